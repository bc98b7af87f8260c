// Availability of FFmpeg, which reads videos.
#pragma once

#include <optional>
#include <string>

namespace loaderscope {

// Loads FFmpeg. Returns the reason if it is missing, otherwise nothing. Any thread may call it.
std::optional<std::string> no_ffmpeg();

}  // namespace loaderscope
