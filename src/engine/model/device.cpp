#include "engine/model/device.h"

#include <algorithm>
#include <utility>

namespace loaderscope::model {

ModelDevice::ModelDevice(const Plan& plan, SimulatedMachine& world, std::int32_t rank,
                         std::function<void(Nanos)> ready, std::function<void(StepEvents&)> done)
    : plan_(plan),
      world_(world),
      rank_(rank),
      ready_(std::move(ready)),
      done_(std::move(done)),
      own_copy_stream_(plan.config.trainer.copy == CopyMode::stream),
      ends_(static_cast<std::size_t>(plan.in_flight + 2), kNever) {}

ModelDevice::Step& ModelDevice::add_step(const StepEvents& events) {
  Step& step = steps_.push_slot();
  step.events = events;
  step.copy_submitted = step.copy_duration = step.compute_submitted_at = 0;
  step.copy_placed = step.compute_submitted = step.told_ready = step.last_of_epoch = false;
  return step;
}

void ModelDevice::submit_copy(const StepEvents& events, Nanos now, Nanos duration) {
  Step& step = add_step(events);
  step.copy_submitted = now;
  step.copy_duration = duration;
  last_copy_end_ = kNever;
  if (duration == 0) {
    step.copy_placed = true;
    last_copy_end_ = now;
  } else if (own_copy_stream_) {
    place_copy(step, copy_tail_);
  }
  advance();
}

void ModelDevice::copied(const StepEvents& events, const Interval& copy) {
  Step& step = add_step(events);
  step.events.copy = copy;
  step.copy_placed = true;
  copy_tail_ = last_copy_end_ = copy.end;
}

void ModelDevice::place_copy(Step& step, Nanos earliest) {
  Interval& copy = step.events.copy;
  copy.begin = std::max(step.copy_submitted, earliest);
  copy.end = copy.begin + step.copy_duration;
  step.copy_placed = true;
  copy_tail_ = copy.end;
  if (&step == &steps_.back()) last_copy_end_ = copy.end;
}

void ModelDevice::submit_compute(Nanos now, const Interval& launch, bool last_of_epoch) {
  Step& step = steps_.back();
  step.events.launch = launch;
  step.compute_submitted = true;
  step.compute_submitted_at = now;
  step.last_of_epoch = last_of_epoch;
  advance();
}

// Places what the oldest step allows: on one stream its copy begins when the compute before has
// ended.
void ModelDevice::advance() {
  if (steps_.empty() || on_cores_) return;
  Step& step = steps_.front();
  if (!step.copy_placed) place_copy(step, compute_tail_);
  if (!step.compute_submitted || step.told_ready) return;
  step.told_ready = true;
  Nanos ready = std::max(step.compute_submitted_at, compute_tail_);
  if (step.events.copy.ran()) ready = std::max(ready, step.events.copy.end);
  step.events.ready = ready;
  ready_(ready);
}

void ModelDevice::begin_compute(Nanos at) {
  StepEvents events = steps_.front().events;
  const bool last_of_epoch = steps_.front().last_of_epoch;
  steps_.pop_front();
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
  if (plan_.compute_threads <= 0 || plan_.cpu_exclusive || duration == 0) {
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
  compute_tail_ = events.compute.end;
  check_time(compute_tail_);
  ends_[static_cast<std::size_t>(placed_) % ends_.size()] = compute_tail_;
  ++placed_;
  if (!steps_.empty() && !steps_.front().copy_placed) place_copy(steps_.front(), compute_tail_);
  done_(events);
  advance();
}

Nanos ModelDevice::compute_end(std::int64_t step) const {
  if (step < 0) return 0;
  return step < placed_ ? ends_[static_cast<std::size_t>(step) % ends_.size()] : kNever;
}

Nanos ModelDevice::copy_queue_free() const {
  if (own_copy_stream_) return copy_tail_;
  return idle() ? compute_tail_ : kNever;
}

}  // namespace loaderscope::model
