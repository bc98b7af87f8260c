// From bytes to normalised floats in planes: the arithmetic that a kernel and host code share, and
// that is the same as that of the augmentation on the host, to the bit.
#pragma once

#include <cstdint>

#include "base/on_device.h"

namespace loaderscope::cuda {

// Images of three channels, one byte per value, packed (NHWC) or in planes (NCHW); the result is in
// planes.
struct Normalisation {
  const std::uint8_t* bytes = nullptr;
  float* floats = nullptr;
  std::int64_t images = 0;
  std::int64_t pixels = 0;  // pixels of one image, less than 2^31
  bool packed = false;
  float subtract[3] = {0, 0, 0};
  float multiply[3] = {1, 1, 1};

  LOADERSCOPE_ON_DEVICE std::int64_t values() const { return images * pixels * 3; }
};

// One channel of one image.
struct Plane {
  const std::uint8_t* bytes = nullptr;
  std::uint32_t step = 1;  // distance from pixel to pixel
  float subtract = 0, multiply = 1;
};

// No array is indexed by what is known only on the device: it would be copied to slow memory.
LOADERSCOPE_ON_DEVICE inline float channel_value(const float (&values)[3], std::uint32_t channel) {
  return channel == 0 ? values[0] : channel == 1 ? values[1] : values[2];
}

LOADERSCOPE_ON_DEVICE inline Plane make_plane(const Normalisation& job, std::uint32_t number) {
  const std::uint32_t image = number / 3, channel = number - 3 * image;
  const std::int64_t first = static_cast<std::int64_t>(image) * 3 * job.pixels;
  Plane plane;
  plane.bytes = job.bytes + first + (job.packed ? channel : channel * job.pixels);
  plane.step = job.packed ? 3 : 1;
  plane.subtract = channel_value(job.subtract, channel);
  plane.multiply = channel_value(job.multiply, channel);
  return plane;
}

LOADERSCOPE_ON_DEVICE inline float normalised(const Plane& plane, std::uint32_t pixel) {
  const float value = static_cast<float>(plane.bytes[std::int64_t{pixel} * plane.step]);
  return (value - plane.subtract) * plane.multiply;
}

// Value `index` of the result, on the host.
inline float normalised(const Normalisation& job, std::int64_t index) {
  const Plane plane = make_plane(job, static_cast<std::uint32_t>(index / job.pixels));
  return normalised(plane, static_cast<std::uint32_t>(index % job.pixels));
}

}  // namespace loaderscope::cuda
