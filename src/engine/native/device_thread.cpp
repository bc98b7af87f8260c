#include "engine/native/device_thread.h"

#include <algorithm>
#include <chrono>

#include "engine/native/receiving.h"
#include "engine/native/worker.h"
#include "record/interval_meter.h"

namespace loaderscope::native {

// Counts the device's decodes, and replaces samples that it cannot decode.
class DecodeListener final : public MakeListener {
 public:
  DecodeListener(const Job& job, const RankShare& share) : job_(job), share_(share) {}

  void turn_to(const Batch& batch) { batch_ = &batch; }

  void decoded(Way way, std::string_view reason) override { maker().count_decode(way, reason); }
  AugmentRecipe replace(const SampleEntry& entry, const SampleError& error,
                        std::byte* crop) override {
    AugmentRecipe recipe;
    SampleTask task;
    task.execution = share_.execution(-1, *batch_);
    task.place = crop;
    task.crop_recipe = &recipe;
    maker().replace(task, entry.sample, error);
    return recipe;
  }

 private:
  SampleMaker& maker() {
    if (!maker_) maker_ = job_.make_maker(job_.stop);
    return *maker_;
  }

  const Job& job_;
  const RankShare& share_;
  std::unique_ptr<SampleMaker> maker_;  // made when it is needed
  const Batch* batch_ = nullptr;
};

DeviceThread::~DeviceThread() = default;

DeviceThread::DeviceThread(Job& job, RankShare& share, Device& device)
    : job_(job),
      plan_(job.plan),
      share_(share),
      device_(device),
      free_slots_(plan_.on_device.slots(plan_.in_flight)) {}

void DeviceThread::run() {
  job_.bind_worker(share_.rank, -1);
  share_.name_thread("device");
  use_exact_sleeps();
  Sleeper sleeper(job_.stop);
  RunQueueMeter run_queue;
  demand_run_queue(run_queue);
  if (plan_.layout.is_mixed()) listener_ = std::make_unique<DecodeListener>(job_, share_);
  while (const auto task = share_.to_device->pop()) {
    Batch& batch = *task->item;
    static_cast<void>(batch.dispatches.load(std::memory_order_acquire));
    StepEvents& events = batch.events;
    if (!plan_.pin_thread) {
      receive_batch(share_, *task, sleeper, run_queue);
      if (events.receive.ran()) events.handed = events.receive.end;
    }
    keep(batch);
    while (Batch* next = take_next())
      if (!submit(*next, run_queue, next == &batch && task->waited)) return;
  }
}

void DeviceThread::keep(Batch& batch) {
  came_.emplace(plan_.in_order ? batch.events.batch : arrivals_++, &batch);
}

Batch* DeviceThread::take_next() {
  if (came_.empty() || came_.begin()->first != next_) return nullptr;
  Batch* const batch = came_.begin()->second;
  came_.erase(came_.begin());
  ++next_;
  return batch;
}

void DeviceThread::free_slot() {
  {
    const std::lock_guard lock(mutex_);
    ++free_slots_;
  }
  freed_.notify_one();
}

// False: the job is to stop.
bool DeviceThread::wait_for_slot(StepEvents& events) {
  const Nanos asked = monotonic_now();
  std::unique_lock lock(mutex_);
  const bool waits = free_slots_ == 0;
  while (free_slots_ == 0) {
    if (job_.stop.load(std::memory_order_relaxed) != 0) return false;
    freed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  --free_slots_;
  events.slot_wait = waits ? monotonic_now() - asked : 0;
  return true;
}

// A thread that slept when the batch came has waited for a core since then.
bool DeviceThread::submit(Batch& batch, RunQueueMeter& run_queue, bool was_asleep) {
  StepEvents& events = batch.events;
  if (!wait_for_slot(events)) return false;
  const bool begins_late = was_asleep && events.slot_wait == 0;
  IntervalMeter meter(run_queue, begins_late ? events.handed : kNever);
  const nvtx::Range range(nvtx::Activity::submit_work, {events.batch, -1, 0});
  const DeviceShare work = batch.device_work();
  const BatchTasks tasks = plan_.device_tasks(share_.execution(-1, batch), work);
  if (listener_) listener_->turn_to(batch);
  const MakeJob job{tasks.all(), batch.copied_from, events.samples, listener_.get()};
  // Workers that must stop may leave samples out.
  if (job_.stop.load() != 0 || !device_.make(job)) return false;
  tasks.enter(events, meter.end(false));
  events.copied_bytes = work.copied;
  share_.deliver(batch, share_.device_log);
  return true;
}

}  // namespace loaderscope::native
