#include "guest/host/batch_numbers.h"

#include <algorithm>
#include <iterator>

namespace loaderscope::guest {

std::optional<std::int64_t> BatchNumbers::of(std::int64_t batch, std::int64_t& numbered) {
  constexpr std::int64_t kMaxAhead = std::int64_t{1} << 18;
  constexpr std::size_t kMaxRuns = std::size_t{1} << 16;
  if (batch > next_ + kMaxAhead) return std::nullopt;
  for (; next_ <= batch; ++next_, ++numbered) {
    const bool goes_on =
        !runs_.empty() && runs_.back().second + next_ - runs_.back().first == numbered;
    if (!goes_on) runs_.emplace_back(next_, numbered);
  }
  if (runs_.size() > kMaxRuns) runs_.erase(runs_.begin(), runs_.begin() + kMaxRuns / 2);
  const auto behind =
      std::upper_bound(runs_.begin(), runs_.end(), batch,
                       [](std::int64_t b, const auto& run) { return b < run.first; });
  if (behind == runs_.begin()) return std::nullopt;
  return std::prev(behind)->second + batch - std::prev(behind)->first;
}

}  // namespace loaderscope::guest
