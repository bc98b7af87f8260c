// The comparison with an earlier run, in the result of a run.
#include "report/describe.h"

namespace loaderscope {
namespace {

constexpr RealRange kChange{-1e15, 1e15};

}  // namespace

const std::vector<std::string_view>& against_verdicts() {
  static const std::vector<std::string_view> words = {"better", "worse", "same", "cannot_tell",
                                                      "not_comparable"};
  return words;
}

void describe_against(ResultVisitor& form, AgainstRun& against) {
  form.object("against", "this run and an earlier one; absent without --against", [&] {
    form.text("earlier", against.earlier, "last, or the file of the earlier result");
    form.word("verdict", against.verdict, against_verdicts(), "of this run against the earlier");
    form.text("sentence", against.sentence, "the first line of the answer");
    form.real("samples_per_s_before", against.rate_before,
              "rate of the earlier run; 0 if it is not known", kNotNegative);
    form.object(
        "change", "of the rate, this run / the earlier one - 1",
        [&] {
          form.real("mean", against.change.mean, "the best guess", kChange);
          form.row("ci95", "95 % interval, low and high", [&] {
            form.real("", against.change.low, "low", kChange);
            form.real("", against.change.high, "high", kChange);
          });
        },
        Lines::one);
    form.texts("settings", against.settings, "that differ, as 'num-workers 0 -> 2'");
    form.texts("warnings", against.warnings, "other differences, which weaken the comparison");
  });
}

}  // namespace loaderscope
