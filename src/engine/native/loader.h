// The trainer's side of the loader of one rank: dispatch to the workers, the pin thread, the device
// thread, and the queue from which the trainer takes. The rules are those of the model's loader.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/native/device_thread.h"
#include "engine/native/worker.h"
#include "engine/native/worker_group.h"
#include "loaderscope/device.h"

namespace loaderscope::native {

class Loader {
 public:
  // The device is the one that will copy the batches: it knows the memory for that.
  Loader(Job& job, RankShare& share, WorkerGroup& group, Device& device);
  ~Loader();

  void begin_epoch(std::int64_t epoch, bool start_workers);
  void dispatch_one();  // if the epoch has another batch, or a stream that has not ended
  // The next batch in the order of arrival, null when the job is to stop. With an inline executor
  // it is made now.
  Batch* receive();
  void received(const Batch& batch);  // the trainer has received it, but may take it later
  // Received empty: the stream of its worker has ended, another is asked in its place.
  void on_empty_batch(Batch& batch);
  // With streams: none has anything under way, and so all have ended.
  bool streams_ended() const { return plan_.streamed && in_flight_ == 0; }
  void release(Batch& batch);  // allows new writes to its memory
  void free_device_slot();     // the compute of a batch has ended

  void wake_trainer();  // `receive` returns null from now on
  void stop_workers();  // requires that the trainer has ended
  void join();          // requires that all threads end
  std::vector<QueueStats> read_stats();
  Bytes locked_bytes() const;
  Nanos keeping_time() const { return keeping_; }  // the device took the data set to keep
  std::string memory_fallback() const;
  // Describes the current work of each worker, for the message about a hang.
  std::string describe_workers(const SampleNames& name_of) const {
    return share_.describe_workers(name_of);
  }

 private:
  void allocate(Device& device);
  void start_worker(std::int32_t index);
  std::int32_t choose_worker();
  bool crosses_processes() const { return plan_.config.loader.executor == Executor::processes; }
  void pin();
  void join_threads();

  Job& job_;
  const LoaderPlan& plan_;
  RankShare& share_;
  WorkerGroup& group_;
  std::unique_ptr<HostSlots> written_;  // targets of workers; null: they write into locked_
  std::unique_ptr<HostSlots> locked_;
  std::mutex free_mutex_;
  std::vector<Batch*> free_;
  std::thread pin_thread_, device_thread_;
  std::unique_ptr<DeviceThread> device_work_;  // null: the device makes nothing
  std::unique_ptr<Worker> inline_worker_;
  Batch* inline_task_ = nullptr;

  // Used only by the trainer's thread.
  std::vector<std::int64_t> outstanding_;  // batches of each worker
  std::vector<bool> ended_;                // streams, in this epoch
  std::int64_t in_flight_ = 0;             // batches dispatched and not received
  std::int64_t epoch_ = 0;
  std::int64_t dispatched_ = 0, dispatched_of_epoch_ = 0;
  std::int32_t next_worker_ = 0;
  Nanos epoch_dispatch_ = 0;
  Nanos keeping_ = 0;
};

}  // namespace loaderscope::native
