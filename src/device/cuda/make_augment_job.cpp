#include "device/cuda/make_augment_job.h"

#include <algorithm>
#include <stdexcept>

#include "augment/emitter.h"
#include "augment/taps.h"

namespace loaderscope::cuda {
namespace {

static_assert(kMaxJobSteps == kMaxRecipeSteps);
static_assert(JobStep::kNoChange == RecipeStep::kNoChange);
static_assert(sizeof(JobStep) == sizeof(RecipeStep));

JobStep make_step(const RecipeStep& from) {
  JobStep step{};
  step.kind = static_cast<JobStep::Kind>(from.kind);
  std::copy(from.order.begin(), from.order.end(), step.order);
  std::copy(from.values.begin(), from.values.end(), step.values);
  return step;
}

void copy_steps(const AugmentRecipe& recipe, SampleJob& sample) {
  sample.step_count = recipe.step_count;
  std::transform(recipe.steps.begin(), recipe.steps.begin() + recipe.step_count, sample.steps,
                 make_step);
}

ValueType value_type(Transfer transfer) {
  if (transfer == Transfer::f32) return ValueType::f32;
  return transfer == Transfer::f16 ? ValueType::f16 : ValueType::u8;
}

}  // namespace

bool fits_kernel(const AugmentOptions& options) { return options.size <= kMaxKernelSize; }

bool fits_kernel(const AugmentOptions& options, const AugmentRecipe& recipe) {
  const double scale = std::max(recipe.x.scale, recipe.y.scale);
  return fits_kernel(options) && (!options.antialias || scale <= kMaxKernelScale);
}

SampleJob make_sample_job(const AugmentOptions& options, const AugmentRecipe& recipe,
                          const Pixels& pixels) {
  if (!fits_kernel(options, recipe))
    throw std::logic_error("the kernels were given a crop that they cannot make");
  const Region& held = pixels.region;
  const AxisMap x = augment::reduced(recipe.x, pixels.scale_denominator, held.x, held.width);
  const AxisMap y = augment::reduced(recipe.y, pixels.scale_denominator, held.y, held.height);
  const augment::TapOptions taps{options.size, options.antialias, false};
  augment::check_held(augment::read_span(x, taps), augment::read_span(y, taps), pixels.region);
  SampleJob sample{};
  sample.rgb = pixels.data;
  sample.stride = static_cast<std::int64_t>(pixels.stride);
  sample.held_x = pixels.region.x;
  sample.held_y = pixels.region.y;
  sample.held_height = pixels.region.height;
  sample.x = augment::tap_axis(x);
  sample.y = augment::tap_axis(y);
  sample.is_mirrored = recipe.is_mirrored;
  copy_steps(recipe, sample);
  return sample;
}

SampleJob make_crop_job(const AugmentRecipe& recipe, const std::uint8_t* rgb, std::size_t stride) {
  SampleJob sample{};
  sample.rgb = rgb;
  sample.stride = static_cast<std::int64_t>(stride);
  sample.is_crop = true;
  copy_steps(recipe, sample);
  return sample;
}

AugmentJob make_augment_job(const AugmentOptions& options) {
  AugmentJob job;
  job.size = options.size;
  job.antialias = options.antialias;
  job.packed = options.layout == Layout::nhwc;
  job.type = value_type(options.transfer);
  const augment::Scaling scaling = augment::make_scaling(
      augment::find_normalise(options.operations).value_or(augment::Normalise{}));
  std::copy(scaling.subtract.begin(), scaling.subtract.end(), job.subtract);
  std::copy(scaling.multiply.begin(), scaling.multiply.end(), job.multiply);
  return job;
}

Bytes scratch_bytes(std::int64_t count, int size) { return Bytes{2} * 4 * count * size * size; }

}  // namespace loaderscope::cuda
