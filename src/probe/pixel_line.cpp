#include "probe/pixel_line.h"

#include <vector>

#include "base/quantiles.h"

namespace loaderscope::probe {
namespace {

double median_intercept(std::span<const TimedSize> sizes, double slope) {
  std::vector<double> intercepts;
  for (const TimedSize& size : sizes) intercepts.push_back(size.seconds - slope * size.pixels);
  return find_median(intercepts);
}

double median_ratio(std::span<const TimedSize> sizes) {
  std::vector<double> ratios;
  for (const TimedSize& size : sizes) ratios.push_back(size.seconds / size.pixels);
  return find_median(ratios);
}

}  // namespace

std::optional<PixelLine> fit_pixel_line(std::span<const TimedSize> sizes) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < sizes.size(); ++j) {
      const double pixels = sizes[j].pixels - sizes[i].pixels;
      if (pixels != 0) slopes.push_back((sizes[j].seconds - sizes[i].seconds) / pixels);
    }
  }
  const double slope = find_median(slopes);  // 0 without slopes
  if (!(slope > 0)) return std::nullopt;
  const double image_s = median_intercept(sizes, slope);
  if (image_s >= 0) return PixelLine{image_s, 1 / slope};
  return PixelLine{0, 1 / median_ratio(sizes)};  // the line through 0
}

}  // namespace loaderscope::probe
