#include "analysis/steadiness.h"

#include <algorithm>

#include "analysis/statistics.h"

namespace loaderscope {

Steadiness::Steadiness(std::int64_t steps, std::int64_t workers) {
  const bool grouped = steps >= 16 * workers;
  if (grouped) length_ = workers;
  const std::int64_t most = StepSeries::kMaxCells;
  length_ *= std::max<std::int64_t>(1, (steps / length_ + most - 1) / most);
  block_ = (2 * workers + length_ - 1) / length_;
  times_.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, steps / length_)));
}

void Steadiness::add(std::int64_t index, double time) {
  const auto stretch = static_cast<std::size_t>(index / length_);
  if (stretch < times_.size()) times_[stretch] += time;
}

bool Steadiness::holds(std::int64_t ranks) const {
  constexpr double kChanceLevel = 0.01;
  return keeps_level(times_, block_,
                     1 - kChanceLevel / static_cast<double>(std::max<std::int64_t>(1, ranks)));
}

}  // namespace loaderscope
