// The training loop of one rank: wait until step k-N has ended, ask, take, copy, launch, repeat.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/fifo.h"
#include "engine/native/loader.h"
#include "loaderscope/device.h"

namespace loaderscope::native {

class Trainer {
 public:
  Trainer(Job& job, RankShare& share, WorkerGroup& group, Device& device);

  void run();  // returns when the input or the job ends; runs in the rank's own thread

  Loader& loader() { return loader_; }
  bool input_over() const { return input_over_.load(std::memory_order_acquire); }
  // Samples of the rank's streams in the first epoch; 0: it has not ended.
  std::int64_t streamed_samples() const { return streamed_samples_.load(); }

 private:
  bool begin_epoch();  // false: there is none left
  Batch* next();       // null: the job is to stop, or there is none left
  Batch* take();       // null: the job is to stop, or the rank's streams have ended
  Batch* take_in_order(Batch* received, std::int64_t number);
  Batch* take_early();
  void end_streams();
  Batch* receive_one();
  void note_waking(StepEvents& events);
  bool wait_computed(std::int64_t step);
  CopyJob next_copy(const Batch& batch) const;
  bool copy_and_launch(Batch& batch);
  bool submit_copy(const CopyJob& copy);
  bool wait_copied(const CopyJob& copy);
  void launch(StepEvents& events, Nanos reported_until);
  void collect();
  static void add_launch(StepEvents& events, const Interval& launch);

  Job& job_;
  const LoaderPlan& plan_;
  const std::int32_t rank_;
  Device& device_;
  Loader loader_;
  Sleeper sleeper_;
  std::optional<RunQueueMeter> run_queue_;  // meter of its own thread, once that runs

  std::int64_t step_ = 0;
  Nanos asked_ = 0;
  std::int64_t epoch_ = -1;
  std::int64_t taken_of_epoch_ = 0, samples_of_epoch_ = 0;
  bool none_left_ = false;  // epochs
  // In order: received, by batch; null: it came back empty.
  std::map<std::int64_t, Batch*> early_;
  std::int64_t next_batch_ = 0;  // number of the next batch to take in order
  Fifo<Batch*> in_flight_;       // taken; their memory may still be read
  Fifo<StepEvents> waiting_;     // submitted; their device times are not known
  std::atomic<bool> input_over_{false};
  std::atomic<std::int64_t> streamed_samples_{0};
};

}  // namespace loaderscope::native
