// Overhead of timing the stages of a measured program. Its step rate is measured with and without
// timing, in alternating turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guest/host/guest_process.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

// Share of a program's process time that the guest takes, as the pages report it.
class OwnCost {
 public:
  // Begins a window and discards earlier times.
  void begin() { trainers_ = workers_ = {}, begun_ = true; }
  // Call often, for each member. `counts` is true until the window is over.
  void look(GuestProcess& member, Nanos at, bool counts);

  // Share of the time of the trainers, and of their workers while they live. Nothing without a
  // window or without workers.
  std::optional<double> trainer_cost_share() const { return trainers_.share(); }
  std::optional<double> worker_cost_share() const { return workers_.share(); }

 private:
  struct Sum {
    Nanos own = 0, time = 0;
    std::optional<double> share() const {
      if (time <= 0) return std::nullopt;
      return static_cast<double>(own) / static_cast<double>(time);
    }
  };

  Sum trainers_, workers_;
  bool begun_ = false;
};

class HookCost {
 public:
  // `length` of all turns, of which 2 s to 20 s are used, or up to twice that. `at` is the time of
  // the last of `steps`. `settle` is the number of steps at the beginning of each turn that do not
  // count, because their batches were made before it. It is a multiple of the workers.
  HookCost(Nanos at, std::int64_t steps, Nanos length, std::int64_t settle);

  // Call often.
  void look(Nanos at, std::int64_t steps);
  bool timing() const { return is_on(turns_.size()); }  // true: stages must be timed now
  bool over() const { return turns_.size() >= kTurns; }
  // Overhead as a share of the step rate. Nothing until every turn has ended.
  struct Share {
    double median, low, high;
    // Returns true if the range of the turns is at most 5 %, or narrower than its low end. A wider
    // range is not a measurement. By chance, all four pairs are above 0 once in 16 times.
    bool is_known() const { return high - low <= 0.05 || high - low < low; }
  };
  std::optional<Share> share() const;
  Nanos length() const { return turn_ * static_cast<Nanos>(kTurns); }

  static constexpr std::size_t kTurns = 8;

 private:
  // The order on, off, off, on cancels a steady drift of the rate.
  static bool is_on(std::size_t turn) { return turn % 4 == 0 || turn % 4 == 3; }
  // true: the turn, or its settling, ends with that step
  bool ends(Nanos at, std::int64_t steps) const;

  Nanos turn_, began_;
  std::int64_t steps_, settle_;
  bool settled_;
  std::vector<double> turns_;  // steps per second of each
};

// Schedule of the overhead measurement: after the window if the window has an end, otherwise from
// time to time while the job runs.
class HookCostSchedule {
 public:
  // `why_not` is the reason for not measuring. "" measures.
  explicit HookCostSchedule(std::string why_not) : why_not_(std::move(why_not)) {}

  struct Seen {
    Nanos window = 0;        // length of the window, once it is over
    std::int64_t steps = 0;  // steps in the window
    std::int64_t taken = 0;  // all batches taken, without the first one of each epoch
    Nanos clock = 0;         // time of the last such batch, on a clock that pauses between epochs
    std::int64_t ahead = 0;  // batches made before they are taken
  };
  // Call both often. look_after_window() returns true if no turn remains to wait for.
  bool look_after_window(const Seen& seen);
  void meanwhile(const Seen& seen);
  bool timing() const { return !series_ || series_->timing(); }

  void say(RunRecord& record, const OwnCost& own = {}) const;

 private:
  bool begin(const Seen& seen, Nanos length);
  std::string about_timing(RunRecord& record, const OwnCost& own) const;

  std::string why_not_;
  std::optional<HookCost> series_, done_;
  Nanos next_at_ = kFirstAt;  // time in the window
  bool within_ = false;       // the turns are inside the window

  static constexpr Nanos kFirstAt = 20 * kSecond;
};

}  // namespace loaderscope::guest
