// A file of videos read with FFmpeg: its packets, without decoding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffmpeg.h"

namespace loaderscope::source {

// The packets of one video in a file. It must not be used after a fork.
class VideoFile {
 public:
  // Takes the video that FFmpeg ranks first. Throws ValueError, which continues "PATH: ".
  explicit VideoFile(const std::string& path);

  const AVCodecParameters& codec() const { return *stream_->codecpar; }
  // Returns the next packet in file order, or null at the end. Valid until the next call. Throws
  // ValueError.
  const AVPacket* next();
  // Moves to the key frame with this presentation time. Throws ValueError.
  void go_to_key(std::int64_t pts);

 private:
  bool finds_key(std::int64_t pts);

  OfFfmpeg<AVFormatContext> file_;
  const AVStream* stream_ = nullptr;
  OfFfmpeg<AVPacket> packet_;
  bool is_held_ = false;  // the packet is the next one
};

// A displayed frame. Packets are numbered in file order.
struct ListedFrame {
  std::int64_t pts = 0;
  std::int64_t packet = 0;
  std::int64_t last_packet = 0;  // packet after which the codec returns it
  std::size_t key = 0;           // number of the key frame where decoding begins
};
struct ListedKey {
  std::int64_t pts = 0, packet = 0;
};
struct VideoListing {
  std::vector<ListedKey> keys;
  std::vector<ListedFrame> frames;  // frames in presentation order
  std::int64_t delay = 0;           // packets that a codec takes before its first frame
};

// Reads all packets, and decodes the first key frame. Throws ValueError, which continues "PATH: ".
VideoListing list_frames(VideoFile& file);

}  // namespace loaderscope::source
