// The body of a worker, on a thread or in a process of its own: tasks in, finished batches out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/native/worker_group.h"

namespace loaderscope::native {

class Worker {
 public:
  // Must be called by the worker's own thread.
  Worker(const Job& job, RankShare& share, std::int32_t index);

  // Starts, and works until the queues are closed.
  void run(const Start& start);
  // Makes a batch for a trainer without workers.
  void make_now(Batch& batch);

 private:
  void start_up(const Start& start);
  void work_on_batches();
  void work_on_samples();
  void turn_to(Batch& batch, Nanos rest_begin, bool rested);
  bool claim();
  void expect_batches(const Batch& batch);
  void make_batch(Batch& batch);
  bool make_sample(Batch& batch, std::int64_t position);
  void make_streamed(Batch& batch);
  void finish(Batch& batch);

  const Job& job_;
  const LoaderPlan& plan_;
  RankShare& share_;
  const std::int32_t index_;
  WorkerQueues& queues_;
  SpanWriter spans_;
  Sleeper sleeper_;
  std::unique_ptr<SampleMaker> maker_;
  std::deque<SampleQueue::Task> claimed_;  // sample tasks reserved for this worker
  std::vector<std::int64_t> expected_;     // samples, for the maker
  std::int64_t batch_index_ = -1;
  std::int64_t stream_epoch_ = -1;  // epoch of the stream
  Nanos begun_ = 0, rested_ = 0;
};

// Throws RunError where the run-queue delay of this thread is not known although the kernel counts
// it: the machine had too little of something, file descriptors mostly.
void demand_run_queue(const RunQueueMeter& meter);

// The body of a worker's feeder, which passes finished batches to the trainer's side.
void feed(const Job& job, RankShare& share, std::int32_t index);

}  // namespace loaderscope::native
