// The changes of colour-jitter: their fixed-point factors, which the host's loops take too, and
// what they make of one pixel. torchvision's definitions; colour_kernels.cpp has the loops.
#pragma once

#include <cstdint>

#include "augment/pixel_math.h"
#include "augment/tap_weights.h"
#include "base/on_device.h"

namespace loaderscope::augment {

// Numbers of the changes in a recipe.
inline constexpr int kBrightness = 0, kContrast = 1, kSaturation = 2, kHue = 3;
inline constexpr std::int32_t kCircle = 6 << 16;  // all hues: sixths with 16 binary places

struct ColourChange {
  int number = kBrightness;
  std::int32_t factor = 1 << 16, offset = 0;  // 16 binary places; factor of the hue: the turn
};

// `value` is that of the recipe. `mean` is that of the grey image, and only for the contrast.
LOADERSCOPE_ON_DEVICE inline ColourChange make_change(int number, double value, double mean) {
  ColourChange change;
  change.number = number;
  change.factor = number == kHue ? (to_fixed(6 * value) + kCircle) % kCircle : to_fixed(value);
  // Away from the mean, or towards it.
  if (number == kContrast) change.offset = to_fixed((1 - value) * mean);
  return change;
}

// The mean of an image of size x size pixels.
LOADERSCOPE_ON_DEVICE inline double grey_mean(std::int64_t sum, int size) {
  return static_cast<double>(sum) / (static_cast<double>(size) * size);
}

// Drops the 16 binary places and cuts to 0..255.
LOADERSCOPE_ON_DEVICE inline std::int32_t to_value(std::int32_t fixed) {
  return clamped(fixed >> 16, 0, 255);
}

LOADERSCOPE_ON_DEVICE inline Rgb scale_pixel(const Rgb& c, std::int32_t factor,
                                             std::int32_t offset) {
  return {to_value(c.red * factor + offset), to_value(c.green * factor + offset),
          to_value(c.blue * factor + offset)};
}

// torchvision's luma, 0.2989 R + 0.587 G + 0.114 B, rounded down.
LOADERSCOPE_ON_DEVICE inline std::int32_t grey_value(const Rgb& c) {
  return (c.red * 19589 + c.green * 38470 + c.blue * 7471) >> 16;
}

LOADERSCOPE_ON_DEVICE inline std::int32_t hue_value(const Rgb& c, std::int32_t most,
                                                    std::int32_t chroma) {
  const bool is_red = most == c.red, is_green = most == c.green;
  const std::int32_t difference = is_red     ? c.green - c.blue
                                  : is_green ? c.blue - c.red
                                             : c.red - c.green;
  const std::int32_t base = is_red ? 0 : is_green ? 2 << 16 : 4 << 16;
  // A quotient and a power of two: no machine rounds them otherwise.
  const float quotient =
      static_cast<float>(difference) / static_cast<float>(larger(chroma, 1)) * 65536.0f;
  const std::int32_t hue = base + static_cast<std::int32_t>(quotient);
  return hue < 0 ? hue + kCircle : hue;
}

// A channel of the colour with that hue: 1 within a sixth of its own hue `centre`, 0 beyond two
// sixths.
LOADERSCOPE_ON_DEVICE inline std::int32_t channel_at(std::int32_t hue, int centre,
                                                     std::int32_t least, std::int32_t chroma) {
  const std::int32_t difference = hue - (centre << 16);
  const std::int32_t away = difference < 0 ? -difference : difference;
  const std::int32_t share = clamped((2 << 16) - smaller(away, kCircle - away), 0, 1 << 16);
  const std::int32_t value = (least << 16) + chroma * share;
  // torchvision multiplies by 255.999 / 255 and rounds down.
  return (value + (value >> 8)) >> 16;
}

LOADERSCOPE_ON_DEVICE inline Rgb turn_pixel(const Rgb& c, std::int32_t turn) {
  const std::int32_t most = larger(c.red, larger(c.green, c.blue));
  const std::int32_t least = smaller(c.red, smaller(c.green, c.blue));
  const std::int32_t chroma = most - least;
  const std::int32_t turned = hue_value(c, most, chroma) + turn;
  const std::int32_t hue = turned < kCircle ? turned : turned - kCircle;
  return {channel_at(hue, 0, least, chroma), channel_at(hue, 2, least, chroma),
          channel_at(hue, 4, least, chroma)};
}

LOADERSCOPE_ON_DEVICE inline Rgb changed(const Rgb& c, const ColourChange& change) {
  if (change.number == kHue) return turn_pixel(c, change.factor);
  if (change.number != kSaturation) return scale_pixel(c, change.factor, change.offset);
  return scale_pixel(c, change.factor, grey_value(c) * ((1 << 16) - change.factor));
}

}  // namespace loaderscope::augment
