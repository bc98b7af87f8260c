// The errors of predictions, of this run and of earlier ones.
#include <fmt/format.h>

#include <cmath>

#include "analysis/wording.h"

namespace loaderscope {

std::string PastPredictions::sentence() const {
  if (count == 0) return "";
  if (count == 1) return "the last prediction that was run was off by " + format_percent(worst);
  return fmt::format("the last {} predictions that were run were off by {} (median), {} at worst",
                     count, format_percent(median), format_percent(worst));
}

std::optional<double> PastPredictions::bound() const {
  constexpr std::int64_t kEnough = 10;
  return count < kEnough ? std::nullopt : std::optional(worst);
}

bool GoodnessOfFit::can_predict() const {
  constexpr double kMaxError = 0.1;
  return std::abs(rate_error) <= kMaxError;
}

std::string GoodnessOfFit::sentence() const {
  return fmt::format("the model gives the base case's rate {:+.1f} %, {} {:+.1f} points",
                     100 * rate_error, worst_part, 100 * worst_share);
}

}  // namespace loaderscope
