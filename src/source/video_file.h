// A file of videos read with FFmpeg: its packets, without decoding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffmpeg.h"
#include "source/index.h"
#include "source/options.h"

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

  FfmpegPtr<AVFormatContext> file_;
  const AVStream* stream_ = nullptr;
  FfmpegPtr<AVPacket> packet_;
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

// Places of the frames of videos.

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
