// What a run was booked to so far, for who waits for it.
#pragma once

#include <string>
#include <vector>

#include "record/step_observer.h"

namespace loaderscope {

class LiveAccount final : public StepObserver {
 public:
  void first_ask(std::int32_t, Nanos) override {}
  void span(std::int32_t, std::int32_t, const Span&) override {}
  void deliverable(std::int32_t, std::int64_t, Nanos) override {}
  void step(std::int32_t, const StepEvents&) override {}
  void booked(std::int32_t rank, const StepRow& row) override;

  // What stands below the line of progress, at most `width` columns each: how busy the device is,
  // with a bar, how many batches are queued on average, and what it waits for, the longest first.
  // None before a step was measured.
  std::vector<std::string> lines(std::size_t width) const;

 private:
  std::string busy_line(std::size_t width) const;
  std::string waits_line(std::size_t width) const;

  Nanos compute_ = 0, window_ = 0;  // sums over the ranks
  PerCause<Nanos> stall_{};
  Nanos queued_ = 0;  // of batches, from deliverable to taken
  std::int64_t steps_ = 0, ready_ = 0, samples_ = 0;
  std::int32_t ranks_ = 0;
};

}  // namespace loaderscope
