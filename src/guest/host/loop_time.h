// Time of a program's thread on one of its loaders: waiting for batches, and in the loop around
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "loaderscope/units.h"

namespace loaderscope::guest {

// Wait for a batch, or for the end of an epoch.
struct WaitForBatch {
  Nanos begin = 0, end = 0;
  std::int64_t thread = 0;  // number of the thread in the program
};

class LoopTime {
 public:
  void begin_epoch() { in_loop_ = false; }  // the loop before may have been left
  void asked(std::int64_t thread, Nanos at) {
    if (in_loop_) looped_ += at - wait_.end;
    wait_.thread = thread;
    asks_ = true;
  }
  // The wait for the first batch of an epoch begins with the epoch.
  void got(Nanos asked, Nanos at) { end_wait(asked, at, true); }
  void ended(Nanos asked, Nanos at) { end_wait(asked, at, false); }

  bool asks() const { return asks_; }
  std::int64_t thread() const { return wait_.thread; }
  Nanos waited() const { return waited_; }
  Nanos looped() const { return looped_; }  // loop time with the waits, until the last batch
  // The wait that has ended since it was asked for the last time.
  std::optional<WaitForBatch> take_wait() {
    return std::exchange(is_new_, false) ? std::optional(wait_) : std::nullopt;
  }

 private:
  void end_wait(Nanos asked, Nanos at, bool goes_on) {
    wait_.begin = asked;
    wait_.end = at;
    waited_ += at - asked;
    looped_ += at - asked;
    in_loop_ = goes_on;
    asks_ = false;
    is_new_ = true;
  }

  WaitForBatch wait_;
  Nanos waited_ = 0, looped_ = 0;
  bool asks_ = false, in_loop_ = false, is_new_ = false;
};

}  // namespace loaderscope::guest
