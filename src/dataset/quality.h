// Choice of the JPEG quality for a target size of an image.
#pragma once

#include <cstddef>
#include <vector>

#include "dataset/options.h"
#include "dataset/plan.h"

namespace loaderscope::dataset {

// Bytes per pixel by quality, measured with a few made images. A search begins there.
class QualityCurve {
 public:
  QualityCurve(Subsampling subsampling, std::uint64_t seed);

  double bytes_per_pixel(int quality) const;
  int quality_for(double bytes_per_pixel) const;  // the nearest, 1 to 100
  double least() const { return bytes_per_pixel(1); }
  double most() const { return bytes_per_pixel(100); }

 private:
  std::vector<double> by_quality_;  // [quality - 1]
};

// Encodes `image` at one of the two qualities whose sizes enclose the plan's target, drawn so that
// the mean over many images is the target. Needs two to four encodings.
void encode_to_target(const RgbImage& image, const PlannedImage& plan, Subsampling subsampling,
                      const QualityCurve& curve, std::vector<std::byte>& out);

}  // namespace loaderscope::dataset
