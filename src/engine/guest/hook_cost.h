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
  // `window`: of the measurement that is over; a fifth of it is spent, 2 to 20 s. `at`: when the
  // last of `steps` was taken.
  HookCost(Nanos at, std::int64_t steps, Nanos window);

  // To be called often, likewise.
  void look(Nanos at, std::int64_t steps);
  bool timing() const { return is_on(turns_.size()); }  // whether stages are to be timed now
  bool over() const { return turns_.size() >= kTurns; }
  // Of the step rate; nothing before every turn was had.
  struct Share {
    double median, low, high;
  };
  std::optional<Share> share() const;
  Nanos duration() const { return turn_ * static_cast<Nanos>(kTurns); }

 private:
  static constexpr std::size_t kTurns = 8;
  // On, off, off, on: a rate that drifts counts on both sides alike.
  static bool is_on(std::size_t turn) { return turn % 4 == 0 || turn % 4 == 3; }

  Nanos turn_, began_;
  std::int64_t steps_;
  std::vector<double> turns_;  // steps per second of each
};

}  // namespace loaderscope::guest
