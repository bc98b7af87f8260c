// The decoders of the images of a run, if a GPU was to decode them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Numbers of images, warm-up included.
struct DecodedImages {
  double engines = 0, cuda = 0, cpu = 0;
  // Images that the GPU was to decode and a CPU decoded, by reason. The most frequent one is first.
  std::vector<std::pair<std::string, double>> refused;

  double on_device() const { return engines + cuda; }
  double all() const { return on_device() + cpu; }
  double refusals() const;
  std::string refusal_words() const;  // "progressive 12, cmyk 3"
};

// All are 0 if no GPU was to decode.
DecodedImages decoded_images(const RunRecord& record);

}  // namespace loaderscope
