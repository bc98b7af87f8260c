// The loops that are compiled once per instruction set. All are integer arithmetic, or float
// arithmetic that a fused multiply-add cannot change: every instruction set gives the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "augment/taps.h"
#include "augment/warp_math.h"

namespace loaderscope::augment {

// No kernel's vector is longer than this. Loads may go up to it beyond what is used, where noted.
inline constexpr std::size_t kVectorBytes = 64;

// --- resize (resize_kernels.cpp): vertical first, into a row of 16-bit values, then horizontal

// out[i] = 128 * (a[i] + (b[i] - a[i]) * weight / 32768), for n >= kVectorBytes. 0 <= weight <
// 32768.
void blend_two_rows(const std::uint8_t* a, const std::uint8_t* b, int weight, std::size_t n,
                    std::int16_t* out);

// out[i] = sum over rows of weight * row[i], with `fraction` binary places; n >= kVectorBytes.
struct RowBlend {
  const std::uint8_t* const* rows = nullptr;  // 2 x pairs
  const std::int32_t* weights = nullptr;      // pair k at weights[k * step], as in Taps
  std::size_t step = 0;
  int pairs = 0, bits = 0, fraction = 0;
};
void blend_rows(const RowBlend& blend, std::size_t n, std::int16_t* out);

// Makes `taps.padded` pixels of one row from interleaved RGB values with `fraction` binary places,
// the first of which belong to pixel taps.read.low. 8 values beyond the last one used are loaded.
void resize_row(const std::int16_t* row, const Taps& taps, int fraction, std::uint32_t* out);

// --- output (emit_kernels.cpp): pixels to the sample; n >= kVectorBytes

struct Scaling {
  std::array<float, 3> subtract{}, multiply{};  // value -> (value - subtract) * multiply
};
struct Planes {
  std::array<std::byte*, 3> row{};
};
void emit_planar_f32(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     const Planes& to);
void emit_planar_f16(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     const Planes& to);
void emit_planar_u8(const std::uint32_t* pixels, std::size_t n, const Planes& to);
void emit_packed_f32(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     std::byte* to);
void emit_packed_f16(const std::uint32_t* pixels, std::size_t n, const Scaling& scaling,
                     std::byte* to);
void emit_packed_u8(const std::uint32_t* pixels, std::size_t n, std::byte* to);
bool has_f16();  // false: this instruction set cannot convert to f16, and the f16 kernels must not
                 // be called

// --- colour (colour_kernels.cpp): in place, n a multiple of kPad; factors with 16 binary places

// value * factor + offset, cut to 0..255.
void scale_values(std::uint32_t* pixels, std::size_t n, std::int32_t factor, std::int32_t offset);
// value * factor + grey of the pixel * (1 - factor).
void blend_grey(std::uint32_t* pixels, std::size_t n, std::int32_t factor);
std::int64_t sum_grey(const std::uint32_t* pixels, std::size_t n);
// Turns the hue by `turn` / 65536 sixths of a circle, 0 <= turn < 6 * 65536.
void turn_hue(std::uint32_t* pixels, std::size_t n, std::int32_t turn);

// --- warp (warp_kernels.cpp)

// An image with a border of kBorder black pixels on each side, so that every tap can be read.
struct Bordered {
  const std::uint32_t* origin = nullptr;  // pixel (0, 0)
  std::size_t stride = 0;
  int size = 0;
};
// Bilinear samples at (x + i * dx, y + i * dy), in pixel centres with 16 binary places, for a
// multiple of kPad.
struct Ray {
  std::int32_t x = 0, y = 0, dx = 0, dy = 0;
};
void sample_ray(const Bordered& image, const Ray& ray, std::size_t n, std::uint32_t* out);

std::string target_name();

}  // namespace loaderscope::augment
