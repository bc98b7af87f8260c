// Images with the statistics of photographs, from a seed.
#pragma once

#include <cstdint>

#include "dataset/encode.h"
#include "dataset/scene.h"

namespace loaderscope::dataset {

struct Subject {
  int width = 0, height = 0;
  std::uint64_t seed = 0;  // seed of the data set
  std::uint64_t index = 0;
  double busyness = 0;  // about normal over a data set: how much detail there is
};

// Draws one image after another; not shared between threads. What it costs to decode per stored
// byte, and how many bytes JPEG makes of it, are those of real photographs:
// tests/bench/photo_bench.py compares them.
class Photographer {
 public:
  // The same subject gives the same pixels, on every machine. Valid until the next call.
  const RgbImage& take(const Subject& subject);

 private:
  Scene scene_;
  RgbImage image_;
};

}  // namespace loaderscope::dataset
