// Reasons why an image is decoded on the host, in one word.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "device/cuda/nvjpeg_library.h"

namespace loaderscope::cuda {

// Words of dataset's engine_refusal, for the same images: "progressive", "cmyk", "coding",
// "subsampling", "small" and "large". Returns "" if the facts of the header give no reason.
// `backend` decides: the CUDA kernels decode more images than the engines.
std::string_view find_refusal(const JpegFacts& facts, nvjpeg::Backend backend);

// Returns true if the stored image has restart markers within its scan.
bool has_restarts(std::span<const std::byte> stored);

// Words of images that the header does not explain.
namespace refusal {
inline constexpr std::string_view kOther = "other";      // the engines refuse it
inline constexpr std::string_view kRegion = "region";    // only whole images are decoded
inline constexpr std::string_view kDamaged = "damaged";  // nvJPEG cannot read it
inline constexpr std::string_view kMemory = "memory";    // nvJPEG's memory is too small for it
inline constexpr std::string_view kFailed = "failed";    // decoding failed
}  // namespace refusal

}  // namespace loaderscope::cuda
