#include <fmt/format.h>

#include "analysis/wording.h"

namespace loaderscope {

std::string PastPredictions::sentence() const {
  if (count == 0) return "";
  if (count == 1) return "the last prediction that was run was off by " + show_percent(worst);
  return fmt::format("the last {} predictions that were run were off by {} (median), {} at worst",
                     count, show_percent(median), show_percent(worst));
}

std::optional<double> PastPredictions::bound() const {
  constexpr std::int64_t kEnough = 10;
  return count < kEnough ? std::nullopt : std::optional(worst);
}

}  // namespace loaderscope
