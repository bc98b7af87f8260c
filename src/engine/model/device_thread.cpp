#include "engine/model/device_thread.h"

#include <algorithm>
#include <utility>

namespace loaderscope::model {

DeviceThread::DeviceThread(const LoaderPlan& plan, SimulatedMachine& world, ModelDevice& device,
                           std::int32_t rank, std::function<void(ModelBatch&)> submitted)
    : plan_(plan),
      world_(world),
      device_(device),
      rank_(rank),
      submitted_(std::move(submitted)),
      early_(plan.on_device.makes() ? static_cast<std::size_t>(plan.prefetch_depth + 1) : 0),
      free_slots_(plan.on_device.slots(plan.in_flight_of_rank[static_cast<std::size_t>(rank)])) {}

void DeviceThread::hand(ModelBatch& batch) {
  batch.events.handed = world_.now();
  if (plan_.in_order)
    early_[static_cast<std::size_t>(batch.events.batch) % early_.size()] = &batch;
  else
    handed_.push_back(&batch);
  submit_all();
}

void DeviceThread::free_slot() {
  ++free_slots_;
  submit_all();
}

ModelBatch* DeviceThread::next() const {
  if (plan_.in_order) return early_[static_cast<std::size_t>(next_batch_) % early_.size()];
  return handed_.empty() ? nullptr : handed_.front();
}

void DeviceThread::submit_all() {
  while (ModelBatch* batch = next()) {
    if (free_slots_ == 0) return;
    --free_slots_;
    if (plan_.in_order)
      early_[static_cast<std::size_t>(next_batch_++) % early_.size()] = nullptr;
    else
      handed_.pop_front();
    submit(*batch);
  }
}

// The calls of the host take no time.
void DeviceThread::submit(ModelBatch& batch) {
  StepEvents& events = batch.events;
  const Nanos now = world_.now();
  events.slot_wait = now - std::max(events.handed, free_since_);
  free_since_ = now;
  events.copied_bytes = batch.on_device.copied;
  const BatchTasks tasks =
      plan_.device_tasks(plan_.execution(rank_, -1, events, batch.batch_of_epoch), batch.on_device);
  tasks.enter(events, {now, now, 0, 0});
  if (events.is_made_on_device()) device_.make(tasks.all());
  submitted_(batch);
}

}  // namespace loaderscope::model
