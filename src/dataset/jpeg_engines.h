// The JPEG engines of a GPU: the images that they decode.
#pragma once

#include <array>
#include <string_view>

#include "dataset/image_facts.h"

namespace loaderscope::dataset {

// Reasons why the engines of NVIDIA GPUs leave an undamaged image to a CPU. "scans": each colour
// has a scan of its own. "small", "large": a side is too short or too long.
inline constexpr std::array<std::string_view, 8> kEngineRefusals = {
    "format", "progressive", "cmyk", "coding", "subsampling", "scans", "small", "large"};

// Returns one of kEngineRefusals, or "" if the engines decode this undamaged image. The limits are
// those of nvJPEG's documentation.
std::string_view engine_refusal(const ImageFacts& facts);

}  // namespace loaderscope::dataset
