// Bytes that no decoder reads.
#pragma once

#include <cstddef>
#include <span>

#include "loaderscope/errors.h"

namespace loaderscope {

// Returns the error for bytes that no row recognises. It names the format that they resemble.
SampleError not_an_image(std::span<const std::byte> stored);

}  // namespace loaderscope
