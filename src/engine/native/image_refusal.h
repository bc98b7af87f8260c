// Images that the JPEG engines of a device are not given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "loaderscope/decode.h"

namespace loaderscope::native {

inline constexpr std::string_view kTooLarge = "large";  // a word of dataset::engine_refusal

// Returns why a CPU decodes these stored bytes, as one word, or "". Then `image` has the size.
std::string_view find_refusal(std::span<const std::byte> stored, std::int64_t most_pixels,
                              ImageHeader& image);

}  // namespace loaderscope::native
