// From bytes to normalised floats in planes: the arithmetic that a kernel and host code share, and
// that is the same as that of the augmentation on the host, to the bit.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define LOADERSCOPE_ON_DEVICE __host__ __device__
#else
#define LOADERSCOPE_ON_DEVICE
#endif

namespace loaderscope::cuda {

// Images of three channels, one byte per value, packed (NHWC) or in planes (NCHW); the result is in
// planes.
struct Normalisation {
  const std::uint8_t* bytes = nullptr;
  float* floats = nullptr;
  std::int64_t images = 0;
  std::int64_t pixels = 0;  // of one image
  bool packed = false;
  float subtract[3] = {0, 0, 0};
  float multiply[3] = {1, 1, 1};

  LOADERSCOPE_ON_DEVICE std::int64_t values() const { return images * pixels * 3; }
};

// Value `index` of the result.
LOADERSCOPE_ON_DEVICE inline float normalised(const Normalisation& job, std::int64_t index) {
  const std::int64_t image = index / (3 * job.pixels);
  const std::int64_t of_image = index - image * 3 * job.pixels;
  const std::int64_t channel = of_image / job.pixels;
  const std::int64_t pixel = of_image - channel * job.pixels;
  const std::int64_t from = job.packed ? image * 3 * job.pixels + 3 * pixel + channel : index;
  const float centred = static_cast<float>(job.bytes[from]) - job.subtract[channel];
  return centred * job.multiply[channel];
}

}  // namespace loaderscope::cuda
