// What stored bytes are, by how they begin.
#pragma once

#include <cstddef>
#include <span>

#include "loaderscope/errors.h"

namespace loaderscope {

bool begins_like_jpeg(std::span<const std::byte> stored);
bool begins_like_png(std::span<const std::byte> stored);
bool begins_like_webp(std::span<const std::byte> stored);
bool begins_like_raw(std::span<const std::byte> stored);
bool begins_like_video_frame(std::span<const std::byte> stored);

// For bytes that no row recognises: the error that says what they look like instead.
SampleError not_an_image(std::span<const std::byte> stored);

}  // namespace loaderscope
