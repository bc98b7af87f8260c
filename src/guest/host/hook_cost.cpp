#include "guest/host/hook_cost.h"

#include <algorithm>

#include "base/quantiles.h"

namespace loaderscope::guest {

HookCost::HookCost(Nanos at, std::int64_t steps, Nanos length, std::int64_t settle)
    : turn_(std::clamp<Nanos>(length, 2 * kSecond, 20 * kSecond) / static_cast<Nanos>(kTurns)),
      began_(at),
      steps_(steps),
      settle_(settle),
      settled_(settle == 0) {}

// A turn ends with a step, so that it holds whole steps.
void HookCost::look(Nanos at, std::int64_t steps) {
  if (over() || steps == steps_) return;
  if (settled_ ? at - began_ < turn_ : steps - steps_ < settle_) return;
  if (settled_) turns_.push_back(static_cast<double>(steps - steps_) / seconds(at - began_));
  settled_ = !settled_ || settle_ == 0;
  began_ = at;
  steps_ = steps;
}

std::optional<HookCost::Share> HookCost::share() const {
  if (!over()) return std::nullopt;
  // Each pair of neighbours is a measurement of its own.
  std::vector<double> costs;
  for (std::size_t turn = 0; turn < kTurns; turn += 2) {
    const double on = is_on(turn) ? turns_[turn] : turns_[turn + 1];
    const double off = is_on(turn) ? turns_[turn + 1] : turns_[turn];
    costs.push_back(1 - on / off);
  }
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  return Share{median_of(costs), *least, *most};
}

}  // namespace loaderscope::guest
