// Facts that add up over the epochs of one loader.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "guest/protocol/page.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"

namespace loaderscope::guest {

// Wait for a batch, or for the end of an epoch.
struct WaitForBatch {
  Nanos begin = 0, end = 0;
  std::int64_t thread = 0;  // number of the thread in the program
};

// Time of a program's thread on one of its loaders: waiting for batches, and in the loop around
// them.
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
  void end_wait(Nanos asked, Nanos at, bool stays_in_loop) {
    wait_.begin = asked;
    wait_.end = at;
    waited_ += at - asked;
    looped_ += at - asked;
    in_loop_ = stays_in_loop;
    asks_ = false;
    is_new_ = true;
  }

  WaitForBatch wait_;
  Nanos waited_ = 0, looped_ = 0;
  bool asks_ = false, in_loop_ = false, is_new_ = false;
};

// Numbers of the batches of one epoch within the whole training.
class BatchNumbers {
 public:
  // Returns the number of `batch`. Numbers follow the order of the epoch, whichever process reports
  // a batch first. `numbered` is the number of batches of all epochs that have a number. Returns
  // nothing for a batch that was forgotten long ago, or that is further ahead than any loader
  // works.
  std::optional<std::int64_t> assign_number(std::int64_t batch, std::int64_t& numbered);
  std::int64_t next() const { return next_; }  // the first batch without a number

 private:
  // First batch of each run of consecutive numbers, and its number. One run suffices unless batches
  // of another epoch come between.
  std::vector<std::pair<std::int64_t, std::int64_t>> runs_;
  std::int64_t next_ = 0;  // the first batch without a number
};

// Work of the workers that sends finished batches, besides writing them into a pipe.
class SendStats {
 public:
  void take(const GuestEvent& fact);  // accepts any kind of fact
  void add(const SendStats& other);
  // Bytes per batch, and shares of the time to send it.
  std::vector<Metric> metrics() const;

 private:
  struct Part {
    double times = 0, bytes = 0, spent_s = 0;
    void add(const Part& other);
  };
  double sending_s_ = 0;
  Part pickled_;  // batches; the time includes that of `shared_`
  Part shared_;   // tensors copied into shared memory
};

// Batches that a program takes and discards before it begins to train, as after a resume in the
// middle of an epoch.
class ResumeSkipDetector {
 public:
  // The program has finished with the last batch after `held`, and requests another.
  void done(Nanos held, Nanos asked);
  // Returns true if no batch so far was held as long as any real use takes.
  bool all_at_once() const;

  struct Skip {
    std::int64_t batches = 0;
    Nanos until = 0;  // request time of the first batch that the program trained with
  };
  // Before the optimizer's first step, which came when the program had held its batch for `held`.
  // Batches whose gradients that step has accumulated were held about as long as this one.
  Skip before(Nanos held) const;

 private:
  struct Done {
    Nanos held = 0, asked = 0;
  };
  std::deque<Done> last_;
  std::int64_t batches_ = 0, at_once_ = 0;
};

}  // namespace loaderscope::guest
