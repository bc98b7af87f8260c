// What timing the stages costs a measured program: its step rate by turns with and without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guest/host/own_cost.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class HookCost {
 public:
  // `length` of all turns, at least 2 s and at most 20 s of it, or up to twice that. `at`: when
  // the last of `steps` was taken. `settle`: steps of each turn that do not count, whose batches
  // were made before it; a multiple of the workers.
  HookCost(Nanos at, std::int64_t steps, Nanos length, std::int64_t settle);

  // To be called often, likewise.
  void look(Nanos at, std::int64_t steps);
  bool timing() const { return is_on(turns_.size()); }  // whether stages are to be timed now
  bool over() const { return turns_.size() >= kTurns; }
  // Of the step rate; nothing before every turn was had.
  struct Share {
    double median, low, high;
    // Turns that differ by more than a cost may, or than it seems to be, are no measurement of it:
    // of four pairs that differ by chance one in sixteen times all are above none.
    bool is_known() const { return high - low <= 0.05 || high - low < low; }
  };
  std::optional<Share> share() const;
  Nanos length() const { return turn_ * static_cast<Nanos>(kTurns); }

  static constexpr std::size_t kTurns = 8;

 private:
  // On, off, off, on: a rate that drifts counts on both sides alike.
  static bool is_on(std::size_t turn) { return turn % 4 == 0 || turn % 4 == 3; }
  bool ends(Nanos at, std::int64_t steps) const;  // the turn, or its settling, with that step

  Nanos turn_, began_;
  std::int64_t steps_, settle_;
  bool settled_;
  std::vector<double> turns_;  // steps per second of each
};

// When a job is timed by turns: behind a window that has an end, else now and then while the job
// runs.
class HookCostSchedule {
 public:
  // `why_not`: why it is not to be measured; "" where it is.
  explicit HookCostSchedule(std::string why_not) : why_not_(std::move(why_not)) {}

  struct Seen {
    Nanos window = 0;        // that is over
    std::int64_t steps = 0;  // in it
    std::int64_t taken = 0;  // in all, but for the first of each epoch
    Nanos clock = 0;         // when the last was, on a clock that stands still between epochs
    std::int64_t ahead = 0;  // batches that are made before they are taken
  };
  // Both to be called often. True: there is nothing more to wait for.
  bool behind_window(const Seen& seen);
  void meanwhile(const Seen& seen);
  bool timing() const { return !series_ || series_->timing(); }

  void say(RunRecord& record, const OwnCost& own = {}) const;

 private:
  bool begin(const Seen& seen, Nanos length);
  std::string about_timing(RunRecord& record, const OwnCost& own) const;

  std::string why_not_;
  std::optional<HookCost> series_, done_;
  Nanos next_at_ = kFirstAt;  // of the window
  bool within_ = false;       // the window

  static constexpr Nanos kFirstAt = 20 * kSecond;
};

}  // namespace loaderscope::guest
