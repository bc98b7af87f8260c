// The progress of one process that trains: its last request for a batch, its last batch, the time
// of its steps, and the batches that it has asked its workers for.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "guest/protocol/page.h"
#include "loaderscope/step_rows.h"

namespace loaderscope::hang {

// A batch that a worker was asked for, and that was not taken.
struct AwaitedBatch {
  std::int64_t number = 0;  // number in its epoch
  std::int32_t worker = 0;
  bool begun = false, finished = false, sent = false, received = false;
};

class ProgressTracker {
 public:
  // Adds an event of the process or one of its workers. Each process's events come in order.
  void note(const guest::GuestEvent& fact);

  // For a batch, also before it is known of which loader (iterator -1); 0: it does not.
  Nanos asking_since() const { return asking_since_; }
  // When a batch was last asked for, taken or refused; 0: never.
  Nanos last() const { return last_; }
  // For how long no batch is no wonder: `least`, or ten times what nearly all steps took.
  Nanos patience(Nanos least) const;

  struct Epoch {
    std::int32_t iterator = -1, generation = 0;
    std::int64_t taken = 0;

    bool is_same(const Epoch& other) const {
      return iterator == other.iterator && generation == other.generation;
    }
  };
  const Epoch& current() const { return current_; }    // current epoch
  const Epoch& finished() const { return finished_; }  // last epoch that had no batch left
  // Batches of the current epoch, the first one first.
  std::vector<AwaitedBatch> awaited() const;

 private:
  using Name = std::tuple<std::int32_t, std::int32_t, std::int64_t>;  // epoch, batch
  struct InFlight {
    AwaitedBatch batch;
    bool dispatched = false;  // true if the trainer reported it; else a stray, which was taken
                              // before
  };

  void ask(const guest::GuestEvent& fact);
  void take(const guest::GuestEvent& fact);
  void take_batch_fact(const guest::GuestEvent& fact);
  // Null if the batch was taken, or if too many are known.
  InFlight* find_in_flight(const guest::GuestEvent& fact);
  void begin_epoch(const guest::GuestEvent& fact);
  void forget_strays();

  Nanos asking_since_ = 0, last_ = 0, taken_at_ = 0;
  Epoch current_, finished_;
  Histogram steps_;
  std::map<Name, InFlight> in_flight_;
};

// Has another rank ended the epoch that one is in, with fewer batches than this one has taken?
bool is_left_alone(const ProgressTracker::Epoch& current,
                   const ProgressTracker::Epoch& others_finished);

}  // namespace loaderscope::hang
