#include "predict/figures.h"

#include <fmt/format.h>

#include "analysis/wording.h"
#include "predict/search_fix.h"

namespace loaderscope {
namespace {

std::string gain_words(const ScaledPrediction& promise) {
  std::string text = "; as fast as the others: ";
  if (promise.busy_after > 0)
    text += fmt::format("{} to {} busy, ", format_percent(promise.busy_before),
                        format_percent(promise.busy_after));
  return text + fmt::format("{} to {} samples/s", format_rate(promise.rate_before),
                            format_rate(promise.rate_after));
}

}  // namespace

void add_figures(Finding& finding, const Analysis& of_job, const Prediction& as_the_others) {
  const double regained = regained_share(as_the_others);
  if (regained < kMinReportedShare) return;
  const ScaledPrediction promise = scale_prediction(of_job, as_the_others);
  finding.rate_before = promise.rate_before;
  finding.rate_after = promise.rate_after;
  finding.busy_before = promise.busy_before;
  finding.busy_after = promise.busy_after;
  finding.regained_s = regained * seconds(of_job.account.window);
  finding.pytorch += gain_words(promise);
}

}  // namespace loaderscope
