// In place of ffmpeg.cpp where its headers were not there.
#include "base/has_ffmpeg.h"
#include "built_with.h"

namespace loaderscope {

std::optional<std::string> no_ffmpeg() { return reason_missing<built_with::kFfmpeg>(); }

}  // namespace loaderscope
