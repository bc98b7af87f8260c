// The time of an image as a line over its pixels.
#pragma once

#include <optional>
#include <span>

namespace loaderscope::probe {

struct TimedSize {
  double pixels = 0, seconds = 0;
};

// An image takes `image_s` and 1 / `pixels_per_s` for each pixel.
struct PixelLine {
  double image_s = 0, pixels_per_s = 0;
};

// Returns the line through the sizes: the slope is the median of the slopes between two of them, so
// that one odd size does not move it. Neither part is negative. Returns nothing for fewer than two
// sizes, and if larger images do not take longer.
std::optional<PixelLine> fit_pixel_line(std::span<const TimedSize> sizes);

}  // namespace loaderscope::probe
