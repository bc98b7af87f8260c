// Runs that were made to prove what the analysis says.
#include "predict/proof_runs.h"
#include "report/describe.h"

namespace loaderscope {
namespace {

// Limits of a rate, within which the times of a step can be shown.
constexpr RealRange kRate{1e-6, 1e15};

void describe_proof_run(ResultVisitor& form, ProofRun& run) {
  form.real("samples_per_s", run.samples_per_s, "rate, of all ranks", kRate);
  form.real("busy", run.busy, "share of the window; 0 without compute", kShare);
}

void format_measured(ResultVisitor& form, std::string_view name, bool there, const Measured& value,
                     std::string_view sentence) {
  form.if_there(name, there, AbsentValue::null, [&] {
    form.object(
        name, sentence,
        [&] {
          form.shown("mean", value.mean, "mean of the runs", kNotNegative);
          form.if_there("ci95", value.low && value.high, AbsentValue::null, [&] {
            format_interval(form, "ci95",
                            {value.mean, value.low.value_or(0), value.high.value_or(0)},
                            "95 % interval; null with fewer than three runs");
          });
        },
        Lines::one);
  });
}

void describe_prediction(ResultVisitor& form, std::optional<ProofPrediction>& predicted) {
  form.optional("predicted", predicted, AbsentValue::null, [&](ProofPrediction& prediction) {
    form.object(
        "predicted", "by the model fitted to the run; null where it knows nothing of the change",
        [&] {
          describe_proof_run(form, prediction.after);
          form.object("base", "the base case in the same model",
                      [&] { describe_proof_run(form, prediction.base); });
          form.shown("gain", prediction.gain(), "predicted rate over that of the base case",
                     kNotNegative);
          form.real("error", prediction.error,
                    "|predicted / measured - 1| of the rate of the base case", kNotNegative);
        },
        Lines::one);
  });
}

std::vector<std::string_view> verdicts() {
  return {name_of(ProofVerdict::proved), name_of(ProofVerdict::refuted),
          name_of(ProofVerdict::not_confirmed), name_of(ProofVerdict::cannot_tell)};
}

void format_outcome(ResultVisitor& form, const Proof& proof, const ProofCase& proof_case) {
  const bool has_run = !proof_case.runs.empty();
  const ProofOutcome outcome = has_run ? proof_outcome(proof, proof_case) : ProofOutcome{};
  form.if_there("measured", has_run, AbsentValue::null, [&] {
    form.object("measured", "means over the runs; null without runs", [&] {
      format_measured(form, "samples_per_s", true, outcome.samples_per_s, "rate, of all ranks");
      format_measured(form, "busy", proof.has_busy, outcome.busy,
                      "share of the window; null without compute");
      format_measured(
          form, "gain", outcome.gain.mean > 0, outcome.gain,
          "rate over that of the base case in the same round; null without a base case");
    });
  });
  form.shown("confirmed", outcome.confirmed,
             "whether the predicted gain lies in the measured interval, widened by the "
             "prediction's error; null: cannot tell");
  form.shown("helps", outcome.helps,
             "whether the whole interval of the gain lies above 1, or below 1.02; null: neither");
  form.if_there("verdict", has_run, AbsentValue::null, [&] {
    form.shown_word(
        "verdict", name_of(outcome.verdict), verdicts(),
        "proved if it gives what was predicted and at least 2 % of the time, refuted if "
        "leaving it out gives nothing; null: not run");
  });
}

void describe_knockouts(ResultVisitor& form, Knockouts& knockouts) {
  std::vector<Stage> stages;
  for (const auto& word : Words<Stage>::table()) {
    if (knockouts.has(word.value)) stages.push_back(word.value);
  }
  if (form.reads()) stages.clear();
  form.list(
      "knocked_out", stages, "stages that were left out",
      [&](Stage& stage) { form.word("", stage, ""); }, Lines::one);
  for (const Stage stage : stages) knockouts.add(stage);
}

void describe_case(ResultVisitor& form, std::string_view name, const Proof& proof,
                   ProofCase& proof_case) {
  form.object(name, "one way to run the configuration", [&] {
    form.text("name", proof_case.name, "what was done, for people");
    describe_knockouts(form, proof_case.knockouts);
    describe_changes(form, proof_case.changes, "settings changed, KEY=VALUE as of --set");
    form.text_or_null("missing", proof_case.missing, "why it was not run; null when it was");
    describe_prediction(form, proof_case.predicted);
    if (!form.reads()) format_outcome(form, proof, proof_case);
    form.list(
        "runs", proof_case.runs, "one per round, the cases of a round one after another",
        [&](ProofRun& run) { form.object("", "", [&] { describe_proof_run(form, run); }); },
        Lines::one);
  });
}

}  // namespace

void describe_proof(ResultVisitor& form, Proof& proof) {
  form.object(
      "proof", "runs made afterwards to prove what the analysis says; absent without --prove", [&] {
        form.word("asked", proof.asked, "what --prove asked for; fix is --try");
        form.text_or_null("reason", proof.reason, "why nothing was run; null when something was");
        form.flag("exact", proof.exact, "of virtual time: running it again gives the same");
        form.flag("has_busy", proof.has_busy, "there is a compute to be busy with");
        form.if_there("gpu_is_limit", true, AbsentValue::left_out, [&] {
          form.flag("gpu_is_limit", proof.gpu_is_limit,
                    "what is to be proved is that leaving out the loader gives nothing");
        });
        form.flag("interrupted", proof.interrupted, "what was measured until then counts");
        describe_case(form, "base", proof, proof.base);
        form.list("cases", proof.cases,
                  "what was knocked out or changed, or the rows of the differential",
                  [&](ProofCase& proof_case) { describe_case(form, "", proof, proof_case); });
      });
}

}  // namespace loaderscope
