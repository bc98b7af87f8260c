// The thread of one rank that submits work of the loader to the device. It takes batches in the
// order in which the trainer takes them, and waits for a free slot of the device for each.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "engine/native/rank_share.h"
#include "loaderscope/device.h"

namespace loaderscope::native {

class DecodeListener;

class DeviceThread {
 public:
  DeviceThread(Job& job, RankShare& share, Device& device);
  ~DeviceThread();

  void run();        // body of the thread: until its queue is closed or the job is to stop
  void free_slot();  // the trainer says that the compute of a batch has ended

 private:
  void keep(Batch& batch);
  Batch* take_next();  // null: it has not come yet
  bool wait_for_slot(StepEvents& events);
  bool submit(Batch& batch, RunQueueMeter& run_queue, bool was_asleep);

  Job& job_;
  const LoaderPlan& plan_;
  RankShare& share_;
  Device& device_;
  std::unique_ptr<DecodeListener> listener_;  // set with mixed slots
  std::map<std::int64_t, Batch*> came_;  // not submitted; by batch, or by arrival without order
  std::int64_t arrivals_ = 0;
  std::int64_t next_ = 0;  // key of the next one to submit

  std::mutex mutex_;
  std::condition_variable freed_;
  std::int64_t free_slots_;
};

}  // namespace loaderscope::native
