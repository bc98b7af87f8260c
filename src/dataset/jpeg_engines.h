// The JPEG engines of a GPU: the images that they decode.
#pragma once

#include <string_view>

#include "dataset/image_facts.h"

namespace loaderscope::dataset {

// Returns why the engines of NVIDIA GPUs leave this undamaged image to a CPU, in one word:
// "format" of other than JPEG, "progressive", "cmyk", other "coding", "subsampling", "scans" of one
// colour each, "small" or "large". Returns "" if they decode it. The limits are those of nvJPEG's
// documentation.
std::string_view engine_refusal(const ImageFacts& facts);

}  // namespace loaderscope::dataset
