// In place of ffmpeg.cpp where its headers were not there.
#include "base/has_ffmpeg.h"

namespace loaderscope {

std::optional<std::string> no_ffmpeg() {
  return "built without FFmpeg; install libavformat-dev and libswscale-dev and build again.";
}

}  // namespace loaderscope
