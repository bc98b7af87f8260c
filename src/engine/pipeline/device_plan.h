// Work of the device for the loader: which samples it decodes, and what its tasks take.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "device/production_lanes.h"
#include "engine/pipeline/stage_plan.h"

namespace loaderscope {

// Sums over the samples of a batch.
struct DeviceShare {
  Nanos decode = 0;          // duration alone on the device
  Nanos augment = 0;         // duration alone on the device
  Bytes copied = 0;          // bytes to the device
  std::int32_t decoded = 0;  // samples that the device decodes
};

// Tasks of a batch, in the order of their submission.
class BatchTasks {
 public:
  void add(const LaneTask& task) { tasks_.at(count_++) = task; }
  std::span<const LaneTask> all() const { return std::span(tasks_).first(count_); }
  // Enters them as submitted by that call. Their runs are not known yet.
  void enter(StepEvents& events, const Interval& submit) const;

 private:
  std::array<LaneTask, 3> tasks_;
  std::size_t count_ = 0;
};

class DevicePlan {
 public:
  DevicePlan() = default;
  // `config` outlives the plan.
  DevicePlan(const RunConfig& config, const Knockouts& knockouts);

  bool decodes() const { return decodes_; }
  bool augments() const { return augments_; }
  bool makes() const { return decodes_ || augments_; }
  // The device decodes this sample. Each run and each epoch decides the same.
  bool decodes_sample(const Execution& sample) const;
  // The device keeps this sample from before the first batch: no worker reads it.
  bool holds_sample(const Execution& sample) const;
  ResidentForm held_form() const { return resident_.form; }
  // Bytes of a sample that the device keeps, of `stored` bytes.
  Bytes held_bytes(Bytes stored) const {
    return resident_.form == ResidentForm::decoded ? image_bytes_ : stored;
  }
  // Bytes to the device of a declared sample.
  Bytes copied_bytes(bool decodes, Bytes stored) const { return decodes ? stored : crop_bytes_; }
  // Adds a sample whose stored bytes are `sample.bytes`, and that the device decodes or not.
  void add_sample(const Execution& sample, bool decodes, Bytes copied, DeviceShare& batch) const;
  // `copy`: time of the copy of the batch.
  BatchTasks tasks(const DeviceShare& batch, Nanos copy) const;
  // Batches that the device holds at the same time, for `in_flight` steps.
  std::int64_t slots(std::int64_t in_flight) const { return prefetch_ + in_flight; }

 private:
  const RunConfig* config_ = nullptr;
  bool decodes_ = false, augments_ = false;
  bool is_measured_ = false;  // tasks take the time that they take, and not a declared one
  double share_ = 1;
  std::int64_t prefetch_ = 0;
  Resident resident_;
  Bytes crop_bytes_ = 0;   // pixels of a sample that a worker decoded
  Bytes image_bytes_ = 0;  // pixels of an image that the device keeps
  StagePlan decode_, augment_;
};

}  // namespace loaderscope
