// One pixel or one value at a time: what the loops of resize_kernels.cpp, colour_kernels.cpp and
// emit_kernels.cpp do with vectors, with the same results. resample_math.h, colour_math.h and
// warp_math.h build on it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDA_ARCH__
#include <cuda_fp16.h>
#endif

#include "base/on_device.h"

namespace loaderscope::augment {

// The values of a pixel, which is R | G << 8 | B << 16 when it is packed.
struct Rgb {
  std::int32_t red, green, blue;
};

LOADERSCOPE_ON_DEVICE inline Rgb unpack(std::uint32_t pixel) {
  return {static_cast<std::int32_t>(pixel & 255), static_cast<std::int32_t>(pixel >> 8 & 255),
          static_cast<std::int32_t>(pixel >> 16 & 255)};
}

// Values of 0 to 255.
LOADERSCOPE_ON_DEVICE inline std::uint32_t pack(const Rgb& c) {
  return static_cast<std::uint32_t>(c.red | c.green << 8 | c.blue << 16);
}

LOADERSCOPE_ON_DEVICE inline std::uint32_t pack_bytes(const std::uint8_t* rgb) {
  return pack({rgb[0], rgb[1], rgb[2]});
}

LOADERSCOPE_ON_DEVICE inline std::int32_t clamped(std::int32_t value, std::int32_t low,
                                                  std::int32_t high) {
  return value < low ? low : value > high ? high : value;
}

// The nearest number with 16 binary places. Halves go away from 0, as std::lround rounds them.
LOADERSCOPE_ON_DEVICE inline std::int32_t to_fixed(double value) {
  const double scaled = value * 65536;
  const auto whole = static_cast<std::int64_t>(scaled);
  const double rest = scaled - static_cast<double>(whole);  // exact
  return static_cast<std::int32_t>(whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0));
}

// A difference and then a product: no compiler can fuse them, so all round alike.
LOADERSCOPE_ON_DEVICE inline float scaled_value(std::int32_t value, float subtract,
                                                float multiply) {
  return (static_cast<float>(value) - subtract) * multiply;
}

// IEEE binary16, rounded to nearest even.
LOADERSCOPE_ON_DEVICE inline std::uint16_t half_bits(float value) {
#ifdef __CUDA_ARCH__
  return __half_as_ushort(__float2half_rn(value));
#else
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const float size = std::abs(value);
  if (size >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (size < 0x1p-14f) {  // subnormal: units of 2^-24
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::nearbyint(size * 0x1p24f)));
  }
  const std::uint32_t magnitude = (bits & 0x7fffffffu) - (112u << 23);
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
#endif
}

}  // namespace loaderscope::augment
