#include "engine/pipeline/device_plan.h"

#include <algorithm>

#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kChannels = 3;

StagePlan plan_stage(const RunConfig& config, Stage stage, bool left_out) {
  return left_out ? StagePlan(stage) : StagePlan(config, stage);
}

}  // namespace

// A knock-out of decode or augment leaves out the device's part, too.
DevicePlan::DevicePlan(const RunConfig& config, const Knockouts& knockouts)
    : config_(&config),
      decodes_(config.image.decode.value.on_device()),
      augments_(config.image.augment_on == AugmentOn::gpu),
      is_measured_(is_device_work_measured(config)),
      share_(config.image.decode.value.share),
      prefetch_(config.trainer.device_prefetch),
      resident_(config.image.resident),
      crop_bytes_(kChannels * config.image.size * config.image.size),
      image_bytes_(kChannels * resident_.side * resident_.side),
      decode_(plan_stage(config, Stage::gpu_decode, knockouts.has(Stage::decode))),
      augment_(plan_stage(config, Stage::gpu_augment, knockouts.has(Stage::augment))) {}

bool DevicePlan::decodes_sample(const Execution& sample) const {
  if (!decodes_ || share_ >= 1) return decodes_;
  const auto seed = static_cast<std::uint64_t>(config_->measure.seed.value);
  return uniform_draw(seed, -1, sample.draw, Stage::gpu_decode) < share_;
}

bool DevicePlan::holds_sample(const Execution& sample) const {
  switch (resident_.form) {
    case ResidentForm::no:
      return false;
    case ResidentForm::stored:
      return decodes_sample(sample);
    case ResidentForm::decoded:
      return true;
  }
  return false;
}

void DevicePlan::add_sample(const Execution& sample, bool decodes, Bytes copied,
                            DeviceShare& batch) const {
  if (decodes) {
    batch.decode = std::min(batch.decode + decode_.draw(sample), kMaxCost);
    ++batch.decoded;
  }
  if (augments_) batch.augment = std::min(batch.augment + augment_.draw(sample), kMaxCost);
  batch.copied += copied;
}

BatchTasks DevicePlan::tasks(const DeviceShare& batch, Nanos copy) const {
  BatchTasks tasks;
  if (is_measured_) {
    tasks.add({Stage::h2d, Lane::copy, 0});
    if (batch.decoded > 0) tasks.add({Stage::gpu_decode, Lane::decode, 0});
    tasks.add({Stage::gpu_augment, Lane::work, 0});
    return tasks;
  }
  if (copy > 0) tasks.add({Stage::h2d, Lane::copy, copy});
  if (batch.decode > 0) tasks.add({Stage::gpu_decode, Lane::decode, batch.decode});
  if (batch.augment > 0) tasks.add({Stage::gpu_augment, Lane::work, batch.augment});
  return tasks;
}

void BatchTasks::enter(StepEvents& events, const Interval& submit) const {
  events.made_count = 0;
  for (const LaneTask& task : all())
    events.made.at(events.made_count++) = {task.stage, task.lane, submit, {}};
}

}  // namespace loaderscope
