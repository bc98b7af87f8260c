// The input of the kernels that augment a batch, in plain types. make_augment_job.h fills them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "augment/tap_weights.h"
#include "base/on_device.h"

namespace loaderscope::cuda {

// Limits of the memory that the threads of a block share.
inline constexpr int kMaxKernelSize = 640;  // pixels of both sides of a sample
inline constexpr int kMaxKernelScale = 16;  // pixels of the image per pixel of the sample
inline constexpr int kMaxKernelPairs = kMaxKernelScale;
inline constexpr int kBlockRows = 16;  // rows of a sample that one block makes
inline constexpr int kMaxJobSteps = 8;

// An AugmentRecipe's step.
struct JobStep {
  enum class Kind : std::uint8_t { mirror, warp, colour };
  static constexpr std::uint8_t kNoChange = 255;

  Kind kind;
  std::uint8_t order[4];  // colour: places in `values`; kNoChange after the last one
  double values[6];
};

// One sample. The table of a batch lies where the kernels can read it.
struct SampleJob {
  // Pixels, interleaved RGB. The first one is pixel (held_x, held_y) of the image as it was
  // decoded.
  const std::uint8_t* rgb;
  std::int64_t stride;  // bytes from row to row
  std::int32_t held_x, held_y, held_height;
  augment::TapAxis x, y;  // the crop on the image as it was decoded
  bool is_mirrored;
  bool is_crop;  // the pixels are the sample itself, cropped, resized and mirrored
  std::int32_t step_count;
  JobStep steps[kMaxJobSteps];
};

enum class ValueType : std::uint8_t { f32, f16, u8 };

// One batch. Without steps in any of its samples, `scratch` may be null.
struct AugmentJob {
  const SampleJob* samples = nullptr;
  std::int32_t count = 0;
  std::int32_t size = 0;  // pixels of both sides
  bool antialias = true;
  bool has_steps = false;  // a sample of the batch has some
  bool packed = false;     // NHWC; else NCHW
  ValueType type = ValueType::f32;
  float subtract[3] = {0, 0, 0};  // value -> (value - subtract) * multiply, but for u8
  float multiply[3] = {1, 1, 1};
  void* out = nullptr;               // sample after sample
  std::uint32_t* scratch = nullptr;  // scratch_bytes()

  LOADERSCOPE_ON_DEVICE std::int64_t values() const {
    return std::int64_t{3} * count * size * size;
  }
};

// Numbers of 32 bits that the threads of a block share: the first pixel and the pairs of weights of
// each column and each row.
LOADERSCOPE_ON_DEVICE constexpr int shared_words(int size) {
  return (size + kBlockRows) * (1 + kMaxKernelPairs);
}

}  // namespace loaderscope::cuda
