// Plan of each image of a data set: a pure function of the options and its index. Threads,
// interruptions and repetitions change nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/options.h"
#include "dataset/photograph.h"

namespace loaderscope::dataset {

struct PlannedImage {
  Subject subject;
  bool progressive = false;
  double target_bytes = 0;  // only with bytes_per_pixel
  double dither = 0;        // [0, 1): which of the two nearest qualities is taken
};

// Busyness is spread evenly over the quantiles of the normal distribution and progressive images
// over the data set, so that means come out as asked also for a hundred images.
PlannedImage plan_image(const MakeOptions& options, std::int64_t index);

// Images of a class are neighbours. Relative to the data set: "class_003/img_0000031.jpg".
std::int64_t drawn_class(const MakeOptions& options, std::int64_t index);
std::string class_folder(std::int64_t classes, std::int64_t class_index);
std::string image_path(const MakeOptions& options, std::int64_t index);

// Choice of the JPEG quality for a target size of an image.

// Bytes per pixel by quality, measured with a few made images. A search begins there.
class QualityCurve {
 public:
  QualityCurve(Subsampling subsampling, std::uint64_t seed);

  double bytes_per_pixel(int quality) const;
  int quality_for(double bytes_per_pixel) const;  // the nearest, 1 to 100
  double least() const { return bytes_per_pixel(1); }
  double most() const { return bytes_per_pixel(100); }

 private:
  std::vector<double> quality_values_;  // [quality - 1]
};

// Encodes `image` at one of the two qualities whose sizes enclose the plan's target, drawn so that
// the mean over many images is the target. Needs two to four encodings.
void encode_to_target(const RgbImage& image, const PlannedImage& plan, Subsampling subsampling,
                      const QualityCurve& curve, std::vector<std::byte>& out);

}  // namespace loaderscope::dataset
