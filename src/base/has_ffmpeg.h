// Whether videos can be read here.
#pragma once

#include <optional>
#include <string>

namespace loaderscope {

// Why FFmpeg is not there; nothing: it is. Loads it. From any thread.
std::optional<std::string> no_ffmpeg();

}  // namespace loaderscope
