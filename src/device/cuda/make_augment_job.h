// Turns recipes and pixels into the input of the kernels that augment a batch.
#pragma once

#include "device/cuda/augment_job.h"
#include "loaderscope/augment.h"
#include "loaderscope/decode.h"
#include "loaderscope/units.h"

namespace loaderscope::cuda {

// Returns whether the kernels can make the crop of a sample. The host must make it otherwise.
bool fits_kernel(const AugmentOptions& options, const AugmentRecipe& recipe);

// Returns whether the kernels can make samples of that size at all.
bool fits_kernel(const AugmentOptions& options);

// The sample from pixels of the recipe's region. `pixels.data` is an address that the kernels can
// read. Throws std::logic_error if the pixels lack a part of what the recipe reads, or if the
// recipe does not fit.
SampleJob make_sample_job(const AugmentOptions& options, const AugmentRecipe& recipe,
                          const Pixels& pixels);

// The sample from its crop, which the host has cut out, resized and mirrored: options.size rows of
// `stride` bytes.
SampleJob make_crop_job(const AugmentRecipe& recipe, const std::uint8_t* rgb, std::size_t stride);

// A batch without its samples and addresses. Throws ValueError for unsupported operations.
AugmentJob make_augment_job(const AugmentOptions& options);

// Device memory for the steps of `count` samples: two images for each.
Bytes scratch_bytes(std::int64_t count, int size);

}  // namespace loaderscope::cuda
