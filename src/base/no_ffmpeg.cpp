// Replacement for ffmpeg.cpp in builds without the FFmpeg headers.
#include "base/has_ffmpeg.h"
#include "built_with.h"

namespace loaderscope {

std::optional<std::string> no_ffmpeg() { return reason_missing<built_with::kFfmpeg>(); }

}  // namespace loaderscope
