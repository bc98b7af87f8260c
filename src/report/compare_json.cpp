// A comparison as JSON: the verdict, what it rests on, and every run.
#include "report/compare_text.h"
#include "report/describe.h"
#include "report/kinds.h"

namespace loaderscope::compare {
namespace {

const std::vector<std::string_view>& outcomes() {
  static const std::vector<std::string_view> words = {"worse", "better", "same", "cannot_tell"};
  return words;
}

std::string_view word_of(Outcome outcome) {
  return outcomes().at(static_cast<std::size_t>(outcome));
}

void show_arms(Form& form, std::array<Arm, 2>& arms) {
  std::vector<Arm> list(arms.begin(), arms.end());
  form.list("arms", list, "what is compared", [&](Arm& arm) {
    form.object("", "one of the two", [&] {
      form.shown("name", arm.name, "A or B");
      form.shown("what", arm.what, "the flags, ref or binary that make it");
      form.shown("commit", arm.commit, "of a ref; empty where there is none");
    });
  });
}

void show_estimate(Form& form, Form::Name name, const Estimate& estimate, Form::Sentence sentence) {
  form.object(
      name, sentence,
      [&] {
        form.shown("mean", estimate.mean, "the best guess");
        show_interval(form, "ci95", estimate, "95 % interval, low and high");
      },
      Lines::one);
}

void show_difference(Form& form, const Difference& one) {
  form.object("", "one quantity", [&] {
    form.shown("name", one.name, "of a row of 'list quantity', a stage, or wait-for- a cause");
    form.shown("unit",
               one.row != nullptr          ? std::string(one.row->unit)
               : one.scale == Scale::ratio ? "s"
                                           : "1",
               "of a and b; stages are per sample");
    form.shown("a", one.a, "mean over the runs of A");
    form.shown("b", one.b, "mean over the runs of B");
    show_estimate(form, "change", one.change, "B / A - 1; of shares B - A");
    form.shown("p", one.p, "that nothing changed, corrected for all that is looked at", kShare);
    form.shown("least_seen", one.least_seen, "the change that would be seen four times of five");
    form.shown_word("verdict", word_of(one.verdict), outcomes(), "what became of it");
  });
}

void show_count(Form& form, const CountChange& count) {
  form.object(
      "", "a count that both arms repeat exactly",
      [&] {
        form.shown("name", count.row != nullptr ? std::string(count.row->row.name) : "",
                   "of a row of 'list count'");
        form.shown("a", count.a, "per sample of A");
        form.shown("b", count.b, "per sample of B");
        form.shown("changed", count.changed(), "at no tolerance");
      },
      Lines::one);
}

void show_matters(Form& form, const std::optional<Matters>& matters) {
  form.if_there("matters", matters.has_value(), Missing::null, [&] {
    const Matters known = matters.value_or(Matters{});
    form.object("matters", "whether the GPU would notice; null without --demand", [&] {
      form.shown("rate_needed", known.rate_needed, "samples per second", kNotNegative);
      form.shown("workers", known.workers, "that make them");
      form.shown("margin_a", known.margin_a, "share of the workers' time that A leaves");
      form.shown("margin_b", known.margin_b, "that B leaves; below 0 the GPU waits");
      form.shown("gpu_waits", known.gpu_waits(), "with B");
    });
  });
}

void show_anchor(Form& form, const std::optional<Anchor>& anchor) {
  form.if_there("anchor", anchor.has_value(), Missing::null, [&] {
    const Anchor known = anchor.value_or(Anchor{});
    form.object("anchor", "B against a commit of long ago; null without --anchor-ref", [&] {
      form.shown("what", known.arm.what, "the ref");
      form.shown("commit", known.arm.commit, "that it is");
      show_estimate(form, "change", known.change, "of CPU time per sample, B / anchor - 1");
      form.shown("limit", known.limit, "beyond which it fails", kNotNegative);
      form.shown("pairs", known.pairs, "of runs");
    });
  });
}

void show_first_slower(Form& form, const std::optional<FirstSlower>& found) {
  form.if_there("first_slower", found.has_value(), Missing::null, [&] {
    const FirstSlower known = found.value_or(FirstSlower{});
    form.object("first_slower", "what --bisect found; null without it", [&] {
      form.shown("commit", known.commit.commit, "the first that is slower");
      form.shown("author", known.commit.author, "of it");
      form.shown("subject", known.commit.subject, "of its message");
      form.shown("others", known.others, "commits before it that cannot be told from it");
    });
  });
}

void show_run(Form& form, ArmRun& run) {
  const auto number = [&](Form::Name key, double& value) { form.shown(key, value, ""); };
  form.object("", "one run, in a process of its own", [&] {
    form.shown("block", run.block, "of A B B A: the four drew the same samples");
    form.shown("arm", run.arm == 0 ? "A" : "B", "whose");
    form.entries("quantities", run.quantities, "what is compared", number);
    form.entries("counts", run.counts, "per sample", number);
    form.shown("other_cores", run.other_cores, "cores that other programs took", kNotNegative);
    form.shown_seconds("took_s", run.took, "with its start");
  });
}

void show_pairs(Form& form, const Comparison& comparison, const Judgement& judgement) {
  form.object("pairs", "of fresh processes", [&] {
    form.shown("planned", comparison.planned_pairs, "fixed before the first");
    form.shown("counted", judgement.pairs, "that the verdict rests on");
    form.shown("disturbed", judgement.disturbed, "runs left out for what else ran");
    form.shown("steps", comparison.steps, "of each run; 0: as the flags say");
    form.shown("more", judgement.more_pairs, "that would do where it cannot be told; 0: not known");
  });
  form.if_there("against_itself", judgement.against_itself.has_value(), Missing::null, [&] {
    show_estimate(form, "against_itself", judgement.against_itself.value_or(Estimate{}),
                  "rate of the later of two runs of one arm / that of the earlier - 1");
  });
}

}  // namespace

void describe_comparison(Form& form, Comparison& comparison) {
  Judgement judgement = judge(comparison);
  form.shown_word("verdict", word_of(judgement.verdict), outcomes(), "of B against A");
  form.shown("sentence", answer_line(comparison, judgement), "the first line of the answer");
  const Difference* blamed = judgement.blamed();
  form.shown("blamed", blamed != nullptr ? blamed->name : "",
             "the stage, or the wait, that the verdict is of; empty where none can be named");
  show_arms(form, comparison.arms);
  form.shown("command", comparison.command, "what both run");
  show_pairs(form, comparison, judgement);
  form.list("differences", judgement.differences, "what was looked at",
            [&](Difference& one) { show_difference(form, one); });
  form.list("counts", judgement.counts, "exact ones",
            [&](CountChange& count) { show_count(form, count); });
  form.texts("uncounted", judgement.uncounted, "counts that no arm repeats");
  form.texts("new_names", judgement.new_names, "what only B's stages are called");
  form.texts("gone_names", judgement.gone_names, "what only A's are called");
  show_matters(form, judgement.matters);
  show_anchor(form, comparison.anchor);
  show_first_slower(form, comparison.first_slower);
  form.shown("same_because", comparison.same_because,
             "why it is the same by construction; empty where it was measured");
  form.shown("band", comparison.options.band, "a change within it is none", kShare);
  form.shown_seconds("spent_s", comparison.spent, "all runs together");
  form.shown("interrupted", comparison.interrupted, "stopped before the planned pairs were made");
  form.list("runs", comparison.runs, "in their order", [&](ArmRun& run) { show_run(form, run); });
  form.texts("notes", comparison.notes, "what a reader must know");
}

}  // namespace loaderscope::compare
