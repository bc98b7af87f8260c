#include "device/device_timeline.h"

#include <algorithm>

namespace loaderscope {

void DeviceTimeline::submit_copy(Nanos now, Nanos duration) {
  const bool is_next = steps_.empty() && !is_computing_;
  Step& step = steps_.push_slot();
  step = {};
  step.copy_submitted = now;
  step.copy_duration = duration;
  last_copy_end_ = kNever;
  if (duration == 0) {
    step.copy_placed = true;
    last_copy_end_ = now;
  } else if (has_copy_stream_) {
    place_copy(step, copy_tail_);
  } else if (is_next) {
    place_copy(step, compute_tail_);
  }
}

void DeviceTimeline::add_copied(const Interval& copy) {
  Step& step = steps_.push_slot();
  step = {};
  step.copy = copy;
  step.copy_placed = true;
  copy_tail_ = last_copy_end_ = copy.end;
}

void DeviceTimeline::place_copy(Step& step, Nanos earliest) {
  step.copy.begin = std::max(step.copy_submitted, earliest);
  step.copy.end = step.copy.begin + step.copy_duration;
  step.copy.cpu = step.copy.queued = 0;
  step.copy_placed = true;
  copy_tail_ = step.copy.end;
  if (&step == &steps_.back()) last_copy_end_ = step.copy.end;
}

void DeviceTimeline::submit_compute(Nanos now) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].has_compute) continue;
    steps_[i].compute_submitted = now;
    steps_[i].has_compute = true;
    return;
  }
}

std::optional<Nanos> DeviceTimeline::ready() const {
  if (steps_.empty() || is_computing_) return std::nullopt;
  const Step& step = steps_.front();
  if (!step.has_compute || !step.copy_placed) return std::nullopt;
  const Nanos submitted = std::max(step.compute_submitted, compute_tail_);
  return step.copy.ran() ? std::max(submitted, step.copy.end) : submitted;
}

Interval DeviceTimeline::begin_compute() {
  const Interval copy = steps_.front().copy;
  steps_.pop_front();
  is_computing_ = true;
  return copy;
}

void DeviceTimeline::end_compute(Nanos end) {
  is_computing_ = false;
  compute_tail_ = end;
  if (!steps_.empty() && !steps_.front().copy_placed) place_copy(steps_.front(), compute_tail_);
}

Nanos DeviceTimeline::copy_queue_free() const {
  if (has_copy_stream_) return copy_tail_;
  return steps_.empty() && !is_computing_ ? compute_tail_ : kNever;
}

const Interval* DeviceTimeline::find_copy(std::size_t index) const {
  return steps_[index].copy_placed ? &steps_[index].copy : nullptr;
}

}  // namespace loaderscope
