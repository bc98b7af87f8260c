// A file of videos by FFmpeg: its packets, which nothing here decodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffmpeg.h"

namespace loaderscope::source {

// The packets of one video of a file, open in this process: never one that it was forked with.
class VideoFile {
 public:
  // Takes the video that FFmpeg thinks best of. Throws ValueError, as it continues "PATH: ".
  explicit VideoFile(const std::string& path);

  const AVCodecParameters& codec() const { return *stream_->codecpar; }
  // The next packet in the order of the file, valid until the next call; null at its end. Throws
  // ValueError.
  const AVPacket* next();
  // The next one is the key frame that is shown at this time. Throws ValueError.
  void go_to_key(std::int64_t pts);

 private:
  bool finds_key(std::int64_t pts);

  OfFfmpeg<AVFormatContext> file_;
  const AVStream* stream_ = nullptr;
  OfFfmpeg<AVPacket> packet_;
  bool is_held_ = false;  // the packet is the next one
};

// A frame that is shown, of packets numbered in the order of the file.
struct ListedFrame {
  std::int64_t pts = 0;
  std::int64_t packet = 0;
  std::int64_t last_packet = 0;  // after which the codec gives it
  std::size_t key = 0;           // the number of the key frame that is decoded first
};
struct ListedKey {
  std::int64_t pts = 0, packet = 0;
};
struct VideoListing {
  std::vector<ListedKey> keys;
  std::vector<ListedFrame> frames;  // as they are shown
  std::int64_t delay = 0;           // packets that a codec has had before it gives the first one
};

// Reads all packets, and decodes the first key frame. Throws ValueError, likewise.
VideoListing list_frames(VideoFile& file);

}  // namespace loaderscope::source
