// The work of one block of threads on one sample, written once for a kernel and for the host. A
// Block has two functions:
//   each(n, body)  calls body(0) .. body(n - 1) in any order, and returns after all of them
//   sum(n, body)   returns the sum of their results as std::int64_t
#pragma once

#include <cstddef>
#include <cstdint>

#include "augment/colour_math.h"
#include "augment/resample_math.h"
#include "augment/warp_math.h"
#include "base/on_device.h"
#include "device/cuda/augment_job.h"

namespace loaderscope::cuda {

// Value `at` of the batch.
LOADERSCOPE_ON_DEVICE inline void write_value(const AugmentJob& job, std::int64_t at,
                                              std::int32_t value, float subtract, float multiply) {
  if (job.type == ValueType::u8) {
    static_cast<std::uint8_t*>(job.out)[at] = static_cast<std::uint8_t>(value);
    return;
  }
  const float scaled = augment::scaled_value(value, subtract, multiply);
  if (job.type == ValueType::f32) {
    static_cast<float*>(job.out)[at] = scaled;
  } else {
    static_cast<std::uint16_t*>(job.out)[at] = augment::half_bits(scaled);
  }
}

// Pixel `at` of sample `number`.
LOADERSCOPE_ON_DEVICE inline void write_pixel(const AugmentJob& job, int number, int at,
                                              std::uint32_t pixel) {
  const std::int64_t plane = std::int64_t{job.size} * job.size;
  const std::int64_t first = 3 * plane * number + (job.packed ? std::int64_t{3} * at : at);
  const std::int64_t step = job.packed ? 1 : plane;
  const augment::Rgb c = augment::unpack(pixel);
  write_value(job, first, c.red, job.subtract[0], job.multiply[0]);
  write_value(job, first + step, c.green, job.subtract[1], job.multiply[1]);
  write_value(job, first + 2 * step, c.blue, job.subtract[2], job.multiply[2]);
}

// The first of two images of a sample with steps; the second one is next to it.
LOADERSCOPE_ON_DEVICE inline std::uint32_t* scratch_image(const AugmentJob& job, int number) {
  return job.scratch + std::int64_t{2} * number * job.size * job.size;
}

// Taps of some outputs of an axis, in shared memory. Their pixels are counted from the first one
// that is held.
struct SharedTaps {
  std::int32_t* first;
  std::int32_t* weights;
  int outputs;

  LOADERSCOPE_ON_DEVICE SharedTaps(std::int32_t* memory, int count)
      : first(memory), weights(memory + count), outputs(count) {}
  LOADERSCOPE_ON_DEVICE augment::OutputTaps at(int i) const {
    return {weights + i, static_cast<std::size_t>(outputs), first[i]};
  }
  LOADERSCOPE_ON_DEVICE void make(int i, const augment::TapAxis& axis,
                                  const augment::TapShape& shape, int output, int held) const {
    const auto step = static_cast<std::size_t>(outputs);
    first[i] = augment::make_weights(axis, shape, output, weights + i, step).begin - held;
  }
};

// Makes rows first_row .. first_row + kBlockRows - 1 of a sample, as far as it has them: in its
// place if it has no steps, else in the scratch.
template <class Block>
LOADERSCOPE_ON_DEVICE inline void make_rows(const Block& block, const AugmentJob& job, int number,
                                            int first_row, std::int32_t* shared) {
  const SampleJob& sample = job.samples[number];
  const int size = job.size, rows = augment::smaller(kBlockRows, size - first_row);
  const augment::TapShape x = augment::tap_shape(sample.x, job.antialias);
  const augment::TapShape y = augment::tap_shape(sample.y, job.antialias);
  const SharedTaps columns(shared, size);
  const SharedTaps lines(shared + size * (1 + kMaxKernelPairs), kBlockRows);
  if (!sample.is_crop) {
    block.each(size + rows, [&](int i) {
      if (i < size) {
        columns.make(i, sample.x, x, sample.is_mirrored ? size - 1 - i : i, sample.held_x);
      } else {
        lines.make(i - size, sample.y, y, first_row + i - size, sample.held_y);
      }
    });
  }
  const augment::SourcePixels source = {sample.rgb, sample.stride, sample.held_height};
  const augment::ResampleShape shape = augment::resample_shape(x, y);
  std::uint32_t* const scratch = sample.step_count > 0 ? scratch_image(job, number) : nullptr;
  block.each(rows * size, [&](int i) {
    const int row = i / size, column = i - row * size, at = first_row * size + i;
    const std::uint32_t pixel =
        sample.is_crop
            ? augment::pack_bytes(sample.rgb + (first_row + row) * sample.stride + 3 * column)
            : augment::resample(source, shape, columns.at(column), lines.at(row));
    if (scratch != nullptr) {
      scratch[at] = pixel;
    } else {
      write_pixel(job, number, at, pixel);
    }
  });
}

template <class Block>
LOADERSCOPE_ON_DEVICE inline void mirror_image(const Block& block, int size, std::uint32_t* image) {
  const int half = size / 2;
  block.each(size * half, [&](int i) {
    const int row = i / half, column = i - row * half;
    std::uint32_t* const left = image + row * size + column;
    std::uint32_t* const right = image + row * size + size - 1 - column;
    const std::uint32_t before = *left;
    *left = *right;
    *right = before;
  });
}

template <class Block>
LOADERSCOPE_ON_DEVICE inline void warp_image(const Block& block, const JobStep& step, int size,
                                             const std::uint32_t* from, std::uint32_t* to) {
  block.each(size * size, [&](int i) {
    const int y = i / size, x = i - y * size;
    to[i] = augment::sample_place(from, size, augment::warp_place(step.values, size, x, y));
  });
}

template <class Block>
LOADERSCOPE_ON_DEVICE inline void change_image(const Block& block, const JobStep& step, int size,
                                               std::uint32_t* image) {
  for (const std::uint8_t number : step.order) {
    if (number == JobStep::kNoChange) return;
    double mean = 0;
    if (number == augment::kContrast) {
      const std::int64_t sum = block.sum(
          size * size, [&](int i) { return augment::grey_value(augment::unpack(image[i])); });
      mean = augment::grey_mean(sum, size);
    }
    const augment::ColourChange change = augment::make_change(number, step.values[number], mean);
    block.each(size * size, [&](int i) {
      image[i] = augment::pack(augment::changed(augment::unpack(image[i]), change));
    });
  }
}

// Follows the steps of a sample on its image in the scratch, and writes the sample.
template <class Block>
LOADERSCOPE_ON_DEVICE inline void follow_steps(const Block& block, const AugmentJob& job,
                                               int number) {
  const SampleJob& sample = job.samples[number];
  if (sample.step_count == 0) return;
  const int size = job.size;
  std::uint32_t* image = scratch_image(job, number);
  std::uint32_t* other = image + size * size;
  for (int i = 0; i < sample.step_count; ++i) {
    const JobStep& step = sample.steps[i];
    if (step.kind == JobStep::Kind::mirror) mirror_image(block, size, image);
    if (step.kind == JobStep::Kind::colour) change_image(block, step, size, image);
    if (step.kind == JobStep::Kind::warp) {
      warp_image(block, step, size, image, other);
      std::uint32_t* const before = image;
      image = other;
      other = before;
    }
  }
  block.each(size * size, [&](int i) { write_pixel(job, number, i, image[i]); });
}

}  // namespace loaderscope::cuda
