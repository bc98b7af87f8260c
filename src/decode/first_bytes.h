// Bytes that no decoder reads.
#pragma once

#include <cstddef>
#include <span>

#include "loaderscope/errors.h"

namespace loaderscope {

// For bytes that no row recognises: the error that says what they look like instead.
SampleError not_an_image(std::span<const std::byte> stored);

}  // namespace loaderscope
