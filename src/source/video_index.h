// Where the frames of videos lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

// Files, patterns, and all videos below folders. Throws RunError.
std::vector<std::string> video_files(const std::vector<std::string>& paths);

// Of each file every N-th frame, as the word `every` says. Made by reading the packets of the
// files, and kept. Throws RunError, UsageError.
Index index_of_videos(const SourceOptions& options, const std::vector<std::string>& files,
                      const SourceContext& context);

struct PlacedFrame {
  std::uint32_t file = 0;
  std::int64_t group = 0;            // of frames, one for each key frame of all files
  std::int64_t key_time = 0;         // by which the key frame is found
  std::int64_t first_packet = 0;     // its number in the file
  std::uint32_t packets_before = 0;  // from there to that of the frame
  std::uint32_t packets = 0;         // from there to the one after which the codec gives it
  std::int32_t delay = 0;            // of the codec, in packets
};

class VideoFrames {
 public:
  explicit VideoFrames(Index index);

  std::int64_t size() const { return index_.samples(); }
  PlacedFrame frame(std::int64_t sample) const;
  std::string number(std::int64_t sample) const;  // in its file, as it is shown, from 0

 private:
  Index index_;
  std::vector<std::int32_t> delays_;  // by file
};

}  // namespace loaderscope::source
