// Places of the frames of videos.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

// Files, patterns, and all videos below folders. Throws RunError.
std::vector<std::string> video_files(const std::vector<std::string>& paths);

// Returns every N-th frame of each file, as set by the parameter `every`. Reads the packets of the
// files, and keeps the index. Throws RunError, UsageError.
Index index_of_videos(const SourceOptions& options, const std::vector<std::string>& files,
                      const SourceContext& context);

struct PlacedFrame {
  std::uint32_t file = 0;
  std::int64_t group = 0;            // group of frames; one for each key frame of all files
  std::int64_t key_time = 0;         // presentation time of the key frame
  std::int64_t first_packet = 0;     // number in the file of the group's first packet
  std::uint32_t packets_before = 0;  // packets from there to the frame's packet
  std::uint32_t packets = 0;         // packets from there to the one after which the codec returns
                                     // the frame
  std::int32_t delay = 0;            // delay of the codec in packets
};

class VideoFrames {
 public:
  explicit VideoFrames(Index index);

  std::int64_t size() const { return index_.samples(); }
  PlacedFrame frame(std::int64_t sample) const;
  // number in its file in presentation order, from 0
  std::string number(std::int64_t sample) const;

 private:
  Index index_;
  std::vector<std::int32_t> delays_;  // delay of each file
};

}  // namespace loaderscope::source
