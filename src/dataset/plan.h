// Plan of each image of a data set: a pure function of the options and its index. Threads,
// interruptions and repetitions change nothing.
#pragma once

#include <cstdint>
#include <string>

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
std::int64_t class_of(const MakeOptions& options, std::int64_t index);
std::string class_folder(std::int64_t classes, std::int64_t class_index);
std::string image_path(const MakeOptions& options, std::int64_t index);

}  // namespace loaderscope::dataset
