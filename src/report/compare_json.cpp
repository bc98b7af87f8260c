// A comparison as JSON: the verdict, its basis, and every run. A comparison that is read back is
// evaluated again.
#include <algorithm>
#include <utility>

#include "experiment/compare/gate.h"
#include "report/compare_text.h"
#include "report/describe.h"
#include "report/kinds.h"

namespace loaderscope::compare {
namespace {

// Limits of values, within which all derived values can be shown.
constexpr RealRange kAmount{0, 1e15}, kCores{0, 1e6}, kSpread{0, 10}, kChange{-1e15, 1e15};
constexpr std::int64_t kMaxBlock = 1'000'000;
constexpr std::size_t kMaxRuns = 10'000;

const std::vector<std::string_view>& outcomes() {
  static const std::vector<std::string_view> words = {"worse", "better", "same", "cannot_tell"};
  return words;
}

const std::vector<std::string_view>& gates() {
  static const std::vector<std::string_view> words = {"passes", "fails", "untold"};
  return words;
}

std::string_view outcome_word(Gate gate) { return gates().at(static_cast<std::size_t>(gate)); }

void describe_arms(ResultVisitor& form, std::array<Arm, 2>& arms) {
  std::vector<Arm> list;
  if (!form.reads()) list.assign(arms.begin(), arms.end());
  form.list("arms", list, "what is compared", [&](Arm& arm) {
    form.object("", "one of the two", [&] {
      form.text("name", arm.name, "A or B");
      form.text("what", arm.what, "the flags, ref or binary that make it");
      form.text("commit", arm.commit, "of a ref; empty where there is none");
    });
  });
  if (!form.reads()) return;
  if (list.size() != arms.size()) form.refuse("has arms that are not two");
  std::move(list.begin(), list.end(), arms.begin());
}

void format_estimate(ResultVisitor& form, ResultVisitor::Name name, const Estimate& estimate,
                     ResultVisitor::Sentence sentence) {
  form.object(
      name, sentence,
      [&] {
        form.shown("mean", estimate.mean, "the best guess");
        format_interval(form, "ci95", estimate, "95 % interval, low and high");
      },
      Lines::one);
}

void format_difference(ResultVisitor& form, const Difference& one) {
  form.object("", "one quantity", [&] {
    form.shown("name", one.name, "of a row of 'list quantity', a stage, or wait-for- a cause");
    form.shown("unit",
               one.row != nullptr          ? std::string(one.row->unit)
               : one.scale == Scale::ratio ? "s"
                                           : "1",
               "of a and b; stages are per sample");
    form.shown("a", one.a, "mean over the runs of A");
    form.shown("b", one.b, "mean over the runs of B");
    format_estimate(form, "change", one.change, "B / A - 1; of shares B - A");
    form.shown("p", one.p, "that nothing changed, corrected for all that is looked at", kShare);
    form.shown("least_seen", one.least_seen, "the change that would be seen four times of five");
    form.shown_word("verdict", outcome_word(one.verdict), outcomes(), "what became of it");
  });
}

void format_count(ResultVisitor& form, const CountChange& count) {
  form.object(
      "", "a count that both arms repeat exactly",
      [&] {
        form.shown("name", count.name, "of a row of 'list count', or of an exact metric");
        form.shown("a", count.a, "per sample of A");
        form.shown("b", count.b, "per sample of B");
        form.shown("changed", count.changed(), "at no tolerance");
      },
      Lines::one);
}

void format_matters(ResultVisitor& form, const std::optional<Matters>& matters) {
  form.if_there("matters", matters.has_value(), AbsentValue::null, [&] {
    const Matters known = matters.value_or(Matters{});
    form.object("matters", "whether the GPU would notice; null without --demand", [&] {
      form.shown("rate_needed", known.rate_needed, "samples per second", kNotNegative);
      form.shown("workers", known.workers, "that make them, in A");
      form.if_there(
          "workers_of_b", known.workers_of_b != known.workers, AbsentValue::left_out, [&] {
            form.shown("workers_of_b", known.workers_of_b, "in B; absent where they are as many");
          });
      form.shown("margin_a", known.margin_a, "share of the workers' time that A leaves");
      form.shown("margin_b", known.margin_b, "that B leaves; below 0 the GPU waits");
      form.shown("gpu_waits", known.gpu_waits(), "with B");
    });
  });
}

void describe_run(ResultVisitor& form, SideRun& run) {
  static const std::vector<std::string_view> arms = {"A", "B"};
  const auto number = [&](ResultVisitor::Name key, double& value) {
    form.real(key, value, "", kAmount);
  };
  form.object("", "one run, in a process of its own", [&] {
    form.whole("block", run.block, "of A B B A: the four drew the same samples", {0, kMaxBlock});
    std::string arm(arms.at(run.arm == 0 ? 0 : 1));
    form.word("arm", arm, arms, "whose");
    if (form.reads()) run.arm = arm == arms.front() ? 0 : 1;
    form.entries("quantities", run.quantities, "what is compared", number);
    form.entries("counts", run.counts, "per sample", number);
    describe_details(form, run.details);
    form.real("other_cores", run.other_cores, "cores that other programs took", kCores);
    form.seconds("took_s", run.took, "with its start");
  });
}

void describe_options(ResultVisitor& form, Options& options) {
  form.object("options", "what was asked for", [&] {
    form.seconds("budget_s", options.budget, "for all runs together");
    form.whole("pairs", options.pairs, "whatever the budget; 0: as many as it has room for");
    form.real("band", options.band, "a change within it is none", kShare);
    form.real("rate_needed", options.rate_needed,
              "samples per second that the training takes; 0: not known", kAmount);
    form.whole("workers", options.workers, "that make them, of all ranks; 0: as the runs have");
    form.flag("only_if_it_matters", options.only_if_it_matters,
              "slower is a failure only where the GPU waits for it");
    form.flag("must_tell", options.must_decide, "an undecided comparison is a failure");
    form.if_there("more_memory_fails", options.more_memory_fails, AbsentValue::left_out, [&] {
      form.flag("more_memory_fails", options.more_memory_fails,
                "more memory is a failure; absent where it is none");
    });
  });
}

void describe_known(ResultVisitor& form, std::optional<KnownNoise>& known) {
  form.optional("known", known, AbsentValue::null, [&](KnownNoise& spread) {
    form.object(
        "known", "how far runs of the same code differ here; null where it was measured", [&] {
          form.real("rate", spread.rate, "as a deviation of logarithms", kSpread);
          form.real("cpu", spread.cpu, "of CPU time, as a deviation of logarithms", kSpread);
          form.whole("jobs", spread.jobs, "that showed it; 0: it is assumed");
        });
  });
}

void describe_change(ResultVisitor& form, Estimate& change) {
  form.object(
      "change", "of CPU time per sample, B / anchor - 1",
      [&] {
        form.real("mean", change.mean, "the best guess", kChange);
        form.row("ci95", "95 % interval, low and high", [&] {
          form.real("", change.low, "low", kChange);
          form.real("", change.high, "high", kChange);
        });
      },
      Lines::one);
}

void describe_anchor(ResultVisitor& form, std::optional<Anchor>& anchor) {
  form.optional("anchor", anchor, AbsentValue::null, [&](Anchor& known) {
    form.object("anchor", "B against a commit of long ago; null without --anchor-ref", [&] {
      form.text("what", known.arm.what, "the ref");
      form.text("commit", known.arm.commit, "that it is");
      describe_change(form, known.change);
      form.real("limit", known.limit, "beyond which it fails", kShare);
      form.whole("pairs", known.pairs, "of runs");
    });
  });
}

void describe_first_slower(ResultVisitor& form, std::optional<FirstSlower>& found) {
  form.optional("first_slower", found, AbsentValue::null, [&](FirstSlower& known) {
    form.object("first_slower", "what --bisect found; null without it", [&] {
      form.text("commit", known.commit.commit, "the first that is slower");
      form.text("author", known.commit.author, "of it");
      form.text("subject", known.commit.subject, "of its message");
      form.whole("others", known.others, "commits before it that may be the first slower one too");
    });
  });
}

void describe_accepted(ResultVisitor& form, std::vector<Accepted>& all) {
  form.list("accepted", all, "slowdowns that fail nothing", [&](Accepted& one) {
    form.object("", "a line of the file", [&] {
      form.text("name", one.name, "of a stage, a wait, a quantity or a count");
      form.real("at_most", one.at_most, "B / A - 1", kAmount);
      form.text("until", one.until, "the last day, as YYYY-MM-DD");
      form.text("author", one.author, "who accepted it");
      form.text("reason", one.reason, "why");
    });
  });
}

// Describes the measurements from which the judgement is computed.
void describe_measured(ResultVisitor& form, Comparison& comparison) {
  describe_arms(form, comparison.arms);
  form.text("command", comparison.command, "what both run");
  form.text("reproduce", comparison.reproduce, "the command that compares them once more");
  form.text("file", comparison.file, "of the repository, that makes the batches; may be empty");
  describe_options(form, comparison.options);
  form.whole("planned_pairs", comparison.planned_pairs, "fixed before the first of them");
  form.whole("steps", comparison.steps, "of each run; 0: as the flags say");
  form.whole("workers", comparison.workers, "of A, of all ranks");
  form.optional("workers_of_b", comparison.workers_of_b, AbsentValue::left_out,
                [&](std::int64_t& workers) {
                  form.whole("workers_of_b", workers, "of B; absent where they are as many");
                });
  form.real("cores", comparison.cores, "that may be used", kCores);
  form.flag("same_flags", comparison.same_flags, "only the code differs: counts decide");
  form.flag("of_results", comparison.is_of_results, "one run of each, made apart");
  form.if_there("changed_settings", !comparison.changed_settings.empty(), AbsentValue::left_out,
                [&] {
                  form.texts("changed_settings", comparison.changed_settings,
                             "of two results, as 'num-workers 0 -> 2'; absent where none differ");
                });
  describe_known(form, comparison.known);
  describe_accepted(form, comparison.accepted);
  form.text("today", comparison.today, "the day that what was accepted is held against");
  describe_anchor(form, comparison.anchor);
  describe_first_slower(form, comparison.first_slower);
  form.text("same_because", comparison.same_because,
            "why it is the same by construction; empty where it was measured");
  form.seconds("spent_s", comparison.spent, "all runs together");
  form.flag("interrupted", comparison.interrupted, "stopped before the planned pairs were made");
  form.list("runs", comparison.runs, "in their order",
            [&](SideRun& run) { describe_run(form, run); });
  if (comparison.runs.size() > kMaxRuns) form.refuse("has more than 10,000 runs");
  form.texts("notes", comparison.notes, "what a reader must know");
}

void format_pairs(ResultVisitor& form, const ComparisonResult& judgement) {
  form.object("pairs", "of fresh processes", [&] {
    form.shown("counted", judgement.pairs, "pairs that the verdict is based on");
    form.shown("disturbed", judgement.disturbed, "runs left out for what else ran");
    form.shown("more", judgement.more_pairs, "pairs that would allow a verdict; 0: not known");
  });
  form.if_there("against_itself", judgement.against_itself.has_value(), AbsentValue::null, [&] {
    format_estimate(form, "against_itself", judgement.against_itself.value_or(Estimate{}),
                    "rate of the later of two runs of one arm / that of the earlier - 1");
  });
}

void format_gate(ResultVisitor& form, GateAnswer answer) {
  form.shown_word("gate", outcome_word(answer.gate), gates(), "whether that fails the job");
  form.list("worse", answer.worse, "what the verdict is of", [&](Worse& one) {
    form.object("", "one of it", [&] {
      form.shown("name", one.name, "of a stage, a wait, a quantity or a count");
      form.shown("at_least", one.at_least, "B / A - 1, or of shares B - A: the near end of 95 %");
      form.shown("fails", one.fails, "the job");
      form.shown("why", one.why, "it fails nothing, or fails though it was accepted; may be empty");
    });
  });
}

void format_judgement(ResultVisitor& form, const Comparison& comparison) {
  ComparisonResult judgement = judge(comparison);
  form.shown_word("verdict", outcome_word(judgement.verdict), outcomes(), "of B against A");
  form.shown("sentence", answer_line(comparison, judgement), "the first line of the answer");
  const Difference* blamed = judgement.blamed();
  form.shown("blamed", blamed != nullptr ? blamed->name : "",
             "the stage, or the wait, that the verdict is of; empty where none can be named");
  format_gate(form, decide_gate(comparison, judgement));
  format_pairs(form, judgement);
  form.list("differences", judgement.differences, "what was looked at",
            [&](Difference& one) { format_difference(form, one); });
  form.list("counts", judgement.counts, "exact ones",
            [&](CountChange& count) { format_count(form, count); });
  form.texts("uncounted", judgement.uncounted,
             "counts that differ between runs of one arm, or in few blocks");
  form.texts("new_names", judgement.new_names, "what only B's stages are called");
  form.texts("gone_names", judgement.gone_names, "what only A's are called");
  form.list("name_changes", judgement.name_changes,
            "what the program calls parts of what is blamed, the largest change first",
            [&](NameChange& one) {
              form.object("", "one of them", [&] {
                form.shown("name", one.name, "a transform, or a function and its file");
                form.shown("a", one.a, "seconds per sample of A");
                form.shown("b", one.b, "seconds per sample of B");
              });
            });
  format_matters(form, judgement.matters);
}

}  // namespace

std::string_view outcome_word(Outcome outcome) {
  return outcomes().at(static_cast<std::size_t>(outcome));
}

void describe_comparison(ResultVisitor& form, Comparison& comparison) {
  if (!form.reads()) format_judgement(form, comparison);
  describe_measured(form, comparison);
}

}  // namespace loaderscope::compare
