// Data that the workers of one rank share with its trainer: the batches, the queues on which they
// travel, and the queues of each worker. Worker processes have it in shared memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory_resource>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/shared_memory.h"
#include "engine/native/blocking_queue.h"
#include "engine/native/sample_maker.h"
#include "engine/native/sample_queue.h"
#include "machine/binding.h"
#include "record/recorder.h"

namespace loaderscope::native {

// State that all threads and processes of a job share.
class Job {
 public:
  Job(const LoaderPlan& p, Recorder* r, MakerFactory makers, bool writes, SlotFiller fill,
      std::atomic<int>& shared_stop)
      : plan(p),
        recorder(r),
        make_maker(std::move(makers)),
        writes_samples(writes),
        fill_slot(std::move(fill)),
        stop(shared_stop) {}

  const LoaderPlan& plan;
  Recorder* recorder;  // null: nothing is measured
  MakerFactory make_maker;
  bool writes_samples;               // samples are written to host memory
  SlotFiller fill_slot;              // may be empty
  std::vector<RankBinding> binding;  // one per rank; empty: nothing is bound
  std::atomic<int>& stop;            // not 0: every thread and process is to end soon

  // A thread of the job. What it throws stops the job: the first failure counts.
  std::thread start(std::function<void()> body);
  int alive() const { return alive_.load(std::memory_order_acquire); }  // threads not at their end
  void rethrow();
  // Binds the calling thread of that worker by --bind; -1: the pin thread.
  void bind_worker(std::int32_t rank, std::int32_t worker) const;
  // Reports of trainers for the job's own thread: the times of their first requests, and the steps
  // whose device times are known, in order per rank. A rank's first request comes no later than its
  // first step.
  struct Reports {
    std::vector<std::pair<std::int32_t, Nanos>> first_asks;
    std::vector<std::pair<std::int32_t, StepEvents>> steps;
  };
  void put_first_ask(std::int32_t rank, Nanos at);
  void put_step(std::int32_t rank, const StepEvents& events);
  const Reports& take_reports();  // valid until the next call

 private:
  void fail(std::exception_ptr failure);

  std::atomic<int> alive_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
  Reports reports_, taken_;
};

// A batch for the feeder, with the memory that the worker may write again once the batch is sent.
struct Finished {
  Batch* batch = nullptr;
  Nanos at = 0;
  Bytes bytes = 0;
};

// Queues and logs of one worker. A worker of the next epoch reuses them.
struct WorkerQueues {
  WorkerQueues(std::size_t batches, std::pmr::memory_resource& memory)
      : tasks(batches, memory), to_send(batches, memory) {}

  BlockingQueue<Batch*> tasks;      // batch tasks
  BlockingQueue<Finished> to_send;  // to the feeder, if there is one
  ThreadLog* log = nullptr;
  ThreadLog* feeder_log = nullptr;
  std::atomic<std::int64_t> at_batch{-1}, at_sample{-1};  // current batch and sample
};

using SampleNames = std::function<std::string(std::int64_t sample)>;

struct RankShare {
  RankShare(Job& job, std::int32_t rank_number, std::pmr::memory_resource& memory);

  void format_depths();  // to tools, from now on
  void open();           // again, once all workers have ended
  void close();          // workers and feeders end
  WorkerQueues& queues(std::int32_t worker) const {
    return *worker_queues[static_cast<std::size_t>(worker)];
  }
  // `worker` is the worker that handles the whole batch; -1: not a worker.
  Execution execution(std::int32_t worker, const Batch& batch) const {
    return plan.execution(rank, worker, batch.events, batch.batch_of_epoch);
  }

  // A finished batch on its way to the trainer.
  void send(Batch& batch, ThreadLog* log);
  void arrive(Batch& batch, ThreadLog* log);  // has reached the trainer's process
  void deliver(Batch& batch, ThreadLog* log);
  // One in which there is nothing: the stream of this worker has ended.
  void give_back(Batch& batch, std::int32_t worker);

  // Describes the current work of each worker. `name_of` names samples and may be empty.
  std::string describe_workers(const SampleNames& name_of) const;
  void name_thread(const std::string& role) const;
  std::string add_rank(
      const std::string& text) const;  // appends the rank's number if there are several

  const LoaderPlan& plan;
  const std::int32_t rank;
  // Each worker has a feeder if sending has a declared cost, and always between processes.
  const bool has_feeders;

  // One place per batch, all in one piece, where the memory is shared and samples are written.
  std::byte* shared_slots = nullptr;

  // Used only by the trainer's process.
  nvtx::Counter pin_depth, device_depth, ready_depth;
  ThreadLog* pin_log = nullptr;
  ThreadLog* device_log = nullptr;

  std::vector<ArenaPtr<Batch>> batches;
  std::vector<ArenaPtr<WorkerQueues>> worker_queues;
  ArenaPtr<SampleQueue> sample_tasks;  // null with batch tasks
  ArenaPtr<BlockingQueue<Batch*>> to_pin, ready;
  ArenaPtr<BlockingQueue<Batch*>> to_device;  // null: the device makes nothing
};

}  // namespace loaderscope::native
