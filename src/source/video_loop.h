// One video that is decoded again and again, to find out how fast a CPU or a GPU does that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace loaderscope::source {

class VideoLoop {
 public:
  virtual ~VideoLoop() = default;
  // Decodes the video once. Returns the number of frames. Throws RunError.
  virtual std::int64_t decode() = 0;
  virtual std::string codec() const = 0;  // "h264, 640x480"
};

// Reads at most the first 64 MB of packets, which stay in memory. Throws RunError if the video
// cannot be read, or if no GPU here decodes it.
std::unique_ptr<VideoLoop> make_video_loop(const std::string& path, bool on_gpu);

}  // namespace loaderscope::source
