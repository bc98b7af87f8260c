// Account of the measured steps of a run so far.
#pragma once

#include <cstdint>
#include <vector>

#include "record/recorder.h"

namespace loaderscope {

// Observer that receives the row of each step as soon as it is booked. Passed as
// FoldOptions::observer. The folding thread calls it.
class StepObserver : public EventObserver {
 public:
  virtual void booked(std::int32_t rank, const StepRow& row) = 0;
};

struct RunningAccount {
  Nanos compute = 0, window = 0;  // sums over the ranks
  PerCause<Nanos> stall{};
  Nanos queued = 0;  // ns that batches waited from deliverable to taken, in the window
  std::int64_t steps = 0, ready = 0, samples = 0;
  std::int32_t ranks = 0;

  // Adds a step of a rank whose window began at `window_begin`. `ranks` already counts the rank.
  void add(const StepRow& row, Nanos window_begin);
  void add(const RunningAccount& others);  // adds other ranks
  // Removes the steps of an earlier state of this account.
  void subtract(const RunningAccount& earlier);
};

// Keeps the running account of one folder.
class RunningAccountObserver final : public StepObserver {
 public:
  void first_ask(std::int32_t, Nanos) override {}
  void span(std::int32_t, std::int32_t, const Span&) override {}
  void deliverable(std::int32_t, std::int64_t, Nanos) override {}
  void step(std::int32_t, const StepEvents&) override {}
  void booked(std::int32_t rank, const StepRow& row) override;

  const RunningAccount& account() const { return account_; }

 private:
  RunningAccount account_;
  std::vector<Nanos> window_begins_;  // per rank; kNever if the window has not begun
};

}  // namespace loaderscope
