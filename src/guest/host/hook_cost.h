// What timing the stages costs a measured program: its step rate by turns with and without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope::guest {

class HookCost {
 public:
  // `length` of all turns, at least 2 s and at most 20 s of it. `at`: when the last of `steps` was
  // taken. `settle`: steps of each turn that do not count, whose batches were made before it.
  HookCost(Nanos at, std::int64_t steps, Nanos length, std::int64_t settle);

  // To be called often, likewise.
  void look(Nanos at, std::int64_t steps);
  bool timing() const { return is_on(turns_.size()); }  // whether stages are to be timed now
  bool over() const { return turns_.size() >= kTurns; }
  // Of the step rate; nothing before every turn was had.
  struct Share {
    double median, low, high;
    // Turns that differ by more than a cost may are no measurement of it.
    bool is_known() const { return low > 0 || high - low <= 0.05; }
  };
  std::optional<Share> share() const;
  Nanos length() const { return turn_ * static_cast<Nanos>(kTurns); }

  static constexpr std::size_t kTurns = 8;

 private:
  // On, off, off, on: a rate that drifts counts on both sides alike.
  static bool is_on(std::size_t turn) { return turn % 4 == 0 || turn % 4 == 3; }

  Nanos turn_, began_;
  std::int64_t steps_, settle_;
  bool settled_;
  std::vector<double> turns_;  // steps per second of each
};

}  // namespace loaderscope::guest
