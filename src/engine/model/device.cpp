#include "engine/model/device.h"

#include <algorithm>
#include <utility>

namespace loaderscope::model {

ModelDevice::ModelDevice(const LoaderPlan& plan, SimulatedMachine& world, std::int32_t rank,
                         std::function<void(Nanos)> ready, std::function<void(StepEvents&)> done)
    : plan_(plan),
      world_(world),
      rank_(rank),
      ready_(std::move(ready)),
      done_(std::move(done)),
      timeline_(plan.config.trainer.copy == CopyMode::stream),
      ends_(static_cast<std::size_t>(plan.in_flight + 2), kNever) {
  lanes_.set_speeds(plan.config.declared.shared_speed.value);
}

ModelDevice::Step& ModelDevice::add_step(const StepEvents& events) {
  Step& step = steps_.push_slot();
  step.events = events;
  step.reported_ready = step.last_of_epoch = false;
  return step;
}

void ModelDevice::submit_copy(const StepEvents& events, Nanos now, Nanos duration) {
  add_step(events);
  timeline_.submit_copy(now, duration);
  advance();
}

void ModelDevice::copied(const StepEvents& events, const Interval& copy) {
  add_step(events);
  timeline_.add_copied(copy);
}

void ModelDevice::submit_compute(Nanos now, const Interval& launch, bool last_of_epoch) {
  Step& step = steps_.back();
  step.events.launch = launch;
  step.events.submitted = now;
  step.last_of_epoch = last_of_epoch;
  timeline_.submit_compute(now);
  advance();
}

void ModelDevice::advance() {
  if (steps_.empty() || steps_.front().reported_ready) return;
  const std::optional<Nanos> ready = find_ready();
  if (!ready) return;
  steps_.front().reported_ready = true;
  steps_.front().events.ready = *ready;
  ready_(*ready);
}

// A step that is made on the device is ready once its tasks have ended.
std::optional<Nanos> ModelDevice::find_ready() {
  const std::optional<Nanos> ready = timeline_.ready();
  StepEvents& events = steps_.front().events;
  if (!ready) return ready;
  if (!events.is_made_on_device()) return work_after_take(*ready, events);
  if (!lanes_.is_oldest_made()) return std::nullopt;
  const auto runs = lanes_.take_oldest();
  for (std::size_t i = 0; i < events.made_count; ++i) events.made.at(i).at = runs.at(i);
  return std::max(*ready, events.made_end());
}

Nanos ModelDevice::work_after_take(Nanos at, StepEvents& events) const {
  const auto seed = static_cast<std::uint64_t>(plan_.config.measure.seed.value);
  for (const Stage stage : plan_.stages_after_take) {
    const Execution batch = plan_.execution_of_step(rank_, events);
    const Nanos end = at + plan_.fitted->batch_time(stage, batch, seed).wall();
    events.add_trainer_task(stage, {at, end, 0, 0});
    at = end;
  }
  return at;
}

void ModelDevice::make(std::span<const LaneTask> tasks) {
  lanes_.submit(world_.now(), tasks);
  follow_lanes();
}

// Called whenever the lanes have reached the present time.
void ModelDevice::follow_lanes() {
  if (const std::optional<Nanos> end = lanes_.take_compute_end()) {
    StepEvents events = *std::exchange(computing_, std::nullopt);
    events.compute.end = *end;
    computed(events);
  }
  advance();
  wake_for_lanes();
}

void ModelDevice::wake_for_lanes() {
  const Nanos next = std::min(lanes_.next_end(), compute_begin_);
  if (next == kNever || next == wake_due_) return;
  wake_due_ = next;
  world_.wake_at(next, pack({Role::compute, rank_, 0}));
}

void ModelDevice::begin_compute(Nanos at) {
  StepEvents events = steps_.front().events;
  const bool last_of_epoch = steps_.front().last_of_epoch;
  steps_.pop_front();
  if (const Interval copy = timeline_.begin_compute(); copy.ran()) events.copy = copy;
  Nanos duration = 0;
  if (plan_.has_device) {
    Execution execution;
    execution.rank = rank_;
    execution.draw = events.step * plan_.ranks + rank_;
    execution.count = events.step;
    execution.last_of_epoch = last_of_epoch;
    duration = plan_.compute_time(execution);
  }
  events.compute = {at, at + duration, 0, 0};
  if (plan_.on_device.makes()) {
    computing_ = events;
    compute_begin_ = at;
    compute_duration_ = duration;
    wake_for_lanes();
    return;
  }
  if (plan_.cores.compute_threads <= 0 || plan_.cores.exclusive || duration == 0) {
    computed(events);
    return;
  }
  on_cores_ = OnCores{events, duration};
  if (at > world_.now()) {
    world_.wake_at(at, pack({Role::compute, rank_, 0}));
  } else {
    wake();
  }
}

void ModelDevice::wake() {
  if (plan_.on_device.makes()) {
    const Nanos now = world_.now();
    wake_due_ = kNever;
    lanes_.advance(now);
    if (compute_begin_ <= now) {
      compute_begin_ = kNever;
      lanes_.begin_compute(now, compute_duration_);
    }
    follow_lanes();
    return;
  }
  if (!on_cores_->begun) {
    on_cores_->begun = true;
    world_.begin_compute(pack({Role::compute, rank_, 0}), on_cores_->amount);
    return;
  }
  StepEvents events = on_cores_->events;
  on_cores_.reset();
  events.compute.end = world_.now();
  computed(events);
}

void ModelDevice::computed(StepEvents& events) {
  check_time(events.compute.end);
  ends_[static_cast<std::size_t>(placed_) % ends_.size()] = events.compute.end;
  ++placed_;
  timeline_.end_compute(events.compute.end);
  done_(events);
  advance();
}

Nanos ModelDevice::compute_end(std::int64_t step) const {
  if (step < 0) return 0;
  return step < placed_ ? ends_[static_cast<std::size_t>(step) % ends_.size()] : kNever;
}

}  // namespace loaderscope::model
