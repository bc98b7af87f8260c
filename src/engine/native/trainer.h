// The training loop of one rank: wait until step k-N has ended, ask, take, copy, launch, go on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fifo.h"
#include "engine/native/loader.h"
#include "loaderscope/device.h"

namespace loaderscope::native {

class Trainer {
 public:
  Trainer(Job& job, RankShare& share, WorkerGroup& group, Device& device);

  void run();  // until the input is over or the job is to stop; in the rank's own thread

  Loader& loader() { return loader_; }
  bool input_over() const { return input_over_.load(std::memory_order_acquire); }

 private:
  bool begin_epoch();  // false: there is none left
  Batch* take();
  Batch* receive_one();
  void note_waking(StepEvents& events);
  bool wait_computed(std::int64_t step);
  bool copy_and_launch(Batch& batch);
  bool submit_copy(const CopyJob& copy);
  bool wait_copied(const CopyJob& copy);
  void launch(StepEvents& events, Nanos told_until);
  void collect();
  static void add_launch(StepEvents& events, const Interval& launch);
  Execution execution(const StepEvents& events) const;

  Job& job_;
  const Plan& plan_;
  const std::int32_t rank_;
  Device& device_;
  Loader loader_;
  Sleeper sleeper_;
  std::optional<RunQueueMeter> run_queue_;  // of its own thread, once that runs

  std::int64_t step_ = 0;
  Nanos asked_ = 0;
  std::int64_t epoch_ = -1;
  std::int64_t taken_of_epoch_ = 0;
  std::vector<Batch*> early_;  // in order: received, by batch modulo its size
  Fifo<Batch*> in_flight_;     // taken; their memory may still be read
  Fifo<StepEvents> waiting_;   // submitted; their device times are not known
  std::atomic<bool> input_over_{false};
};

}  // namespace loaderscope::native
