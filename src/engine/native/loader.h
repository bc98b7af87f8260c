// The loader of one rank with real threads: dispatch, workers, feeders and the pin thread, up to
// the queue from which the trainer takes. The rules are those of the model's loader.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/native/batch.h"
#include "engine/native/blocking_queue.h"
#include "engine/native/sample_maker.h"
#include "engine/native/sample_queue.h"
#include "loaderscope/device.h"
#include "loaderscope/memory.h"
#include "loaderscope/recorder.h"

namespace loaderscope::native {

// What all threads of a job share.
class Job {
 public:
  Job(const Plan& p, Recorder* r, MakerFactory makers, bool writes, SlotFiller fill)
      : plan(p),
        recorder(r),
        make_maker(std::move(makers)),
        writes_samples(writes),
        fill_slot(std::move(fill)) {}

  const Plan& plan;
  Recorder* recorder;  // null: nothing is measured
  MakerFactory make_maker;
  bool writes_samples;       // samples are written to host memory
  SlotFiller fill_slot;      // may be empty
  std::atomic<int> stop{0};  // not 0: every thread is to end soon

  // A thread of the job. What it throws stops the job: the first failure counts.
  std::thread start(std::function<void()> body);
  int alive() const { return alive_.load(std::memory_order_acquire); }  // threads not at their end
  void rethrow();
  // Trainers put the steps whose device times are known, in order per rank; the job's own thread
  // takes them.
  void put_step(std::int32_t rank, const StepEvents& events);
  const std::vector<std::pair<std::int32_t, StepEvents>>&
  take_steps();  // valid until the next call

 private:
  void fail(std::exception_ptr failure);

  std::atomic<int> alive_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::pair<std::int32_t, StepEvents>> steps_, taken_;
};

class Loader {
 public:
  // The device is the one that will copy the batches: it knows the memory for that.
  Loader(Job& job, std::int32_t rank, Device& device);
  ~Loader();

  void begin_epoch(std::int64_t epoch, bool start_workers);
  void dispatch_one();  // if the epoch has another batch
  // The next batch in the order of arrival, null when the job is to stop. With an inline executor
  // it is made now.
  Batch* receive();
  void received(const Batch& batch);  // the trainer has it in hand, taken or not
  void release(Batch& batch);         // its memory may be written again

  void wake_trainer();  // `receive` returns null from now on
  // After the trainer has ended.
  void let_workers_end();
  void join_workers();
  std::vector<QueueStats> read_stats();
  Bytes locked_bytes() const;
  std::string memory_fallback() const;
  // What each worker does now, for the message when nothing comes any more.
  std::string describe_workers() const;

 private:
  struct Worker {
    std::unique_ptr<BlockingQueue<Batch*>> tasks;    // batch tasks
    std::unique_ptr<BlockingQueue<Batch*>> to_send;  // with a declared transport
    ThreadLog* log = nullptr;
    ThreadLog* feeder_log = nullptr;
    std::thread thread, feeder;
    std::int64_t outstanding = 0;  // of the trainer's thread
    std::atomic<std::int64_t> at_sample{-1};
  };
  // A worker thread's own things.
  struct Hands {
    std::int32_t index;
    SpanWriter spans;
    std::unique_ptr<SampleMaker> maker;
    Sleeper sleeper;
    std::int64_t batch_index = -1;
    Nanos begun = 0, rested = 0;
  };

  void allocate(Device& device);
  void end_last_epochs_workers();
  void close_queues();
  void start_worker(std::int32_t index);
  std::int32_t choose_worker();
  Execution execution(std::int32_t worker, const Batch& batch) const;
  Execution start_of(std::int32_t worker) const;

  void work(const Execution& starting);
  void come_up(Hands& hands, const Execution& starting);
  void work_on_batches(Hands& hands);
  void work_on_samples(Hands& hands);
  void turn_to(Hands& hands, Batch& batch, Nanos rest_begin, bool rested);
  void make_batch(Hands& hands, Batch& batch);
  void make_sample(Hands& hands, Batch& batch, std::int64_t position);
  void finish(Hands& hands, Batch& batch);
  void feed(std::int32_t index);
  void sent(Batch& batch, ThreadLog* log);
  void pin();
  void deliver(Batch& batch, ThreadLog* log);
  std::string of_rank(
      const std::string& text) const;  // with the rank's number if there are several
  void name_thread(const std::string& role) const;
  ThreadLog* add_log(std::int32_t worker);

  Job& job_;
  const Plan& plan_;
  const std::int32_t rank_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::unique_ptr<HostSlots> pageable_, locked_;
  std::mutex free_mutex_;
  std::vector<Batch*> free_;

  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<SampleQueue> sample_tasks_;
  BlockingQueue<Batch*> to_pin_;
  BlockingQueue<Batch*> ready_;
  std::thread pin_thread_;
  ThreadLog* pin_log_ = nullptr;
  std::unique_ptr<Hands> inline_hands_;
  Batch* inline_task_ = nullptr;

  // Of the trainer's thread.
  std::int64_t epoch_ = 0;
  std::int64_t dispatched_ = 0, dispatched_of_epoch_ = 0;
  std::int32_t next_worker_ = 0;
  Nanos epoch_dispatch_ = 0;
  Nanos server_free_ = 0;  // forkserver: when the next worker can be started
};

}  // namespace loaderscope::native
