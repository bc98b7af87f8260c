// Videos as a source.
#include "source/video.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/has_ffmpeg.h"
#include "base/image_formats.h"
#include "base/thread_io.h"
#include "loaderscope/errors.h"
#include "source/lru_cache.h"
#include "source/read_counts.h"
#include "source/video_file.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

void append(std::vector<std::byte>& to, const void* bytes, std::size_t count) {
  const auto* from = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), from, from + count);
}

// Consecutive packets from a key frame. A frame needs the packets from the begin up to its last
// one.
class PacketGroup {
 public:
  bool is(std::int64_t group) const { return group_ == group; }
  void forget() { group_ = -1; }

  void begin(const PlacedFrame& frame, VideoFile& file) {
    forget();
    bytes_.clear();
    ends_.clear();
    times_.clear();
    is_whole_ = false;
    file.go_to_key(frame.key_time);
    const AVCodecParameters& codec = file.codec();
    header_ = {};
    header_.video = frame.file;
    header_.first_packet = frame.first_packet;
    header_.codec = static_cast<std::uint32_t>(codec.codec_id);
    header_.width = static_cast<std::uint32_t>(codec.width);
    header_.height = static_cast<std::uint32_t>(codec.height);
    header_.delay = static_cast<std::uint32_t>(frame.delay);
    header_.setup_bytes = static_cast<std::uint32_t>(std::max(codec.extradata_size, 0));
    append(bytes_, &header_, sizeof header_);
    append(bytes_, codec.extradata, header_.setup_bytes);
    group_ = frame.group;
  }

  bool has(std::size_t packets) const { return is_whole_ || ends_.size() >= packets; }
  void add_next(VideoFile& file, Bytes largest) {
    const AVPacket* packet = file.next();
    if (packet == nullptr) {
      is_whole_ = true;
      return;
    }
    if (std::ssize(bytes_) + packet->size > largest) {
      throw SampleError(Kind::too_large,
                        fmt::format("needs more than the {} bytes that a sample may have, of "
                                    "packets from the key frame before it on",
                                    largest));
    }
    const VideoPacketHeader header{packet->pts, packet->dts,
                                   static_cast<std::uint32_t>(packet->size), packet->flags};
    append(bytes_, &header, sizeof header);
    append(bytes_, packet->data, header.bytes);
    ends_.push_back(bytes_.size());
    times_.push_back(packet->pts);
  }

  std::span<const std::byte> frame(const PlacedFrame& frame) {
    if (frame.packets_before >= ends_.size())
      throw SampleError(Kind::truncated, "its video ends before it does");
    const std::size_t packets = std::min<std::size_t>(frame.packets, ends_.size());
    header_.packets = static_cast<std::uint32_t>(packets);
    header_.time = times_[frame.packets_before];
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    return std::span<const std::byte>(bytes_).first(ends_[packets - 1]);
  }

 private:
  std::int64_t group_ = -1;
  VideoFrameHeader header_;
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> ends_;    // ends of packets in `bytes_`
  std::vector<std::int64_t> times_;  // presentation times of packets
  bool is_whole_ = false;            // the file ends with it
};

// Plan that all readers share.
struct VideoPlan {
  std::vector<std::string> files;
  VideoFrames frames;
  Bytes largest_sample;
};

class VideoReader final : public SampleReader {
 public:
  VideoReader(const VideoPlan& plan, const ReadCounts& counts) : plan_(plan), counts_(counts) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const PlacedFrame frame = plan_.frames.frame(sample);
    if (!io_) io_.emplace();
    io_->since_last();
    try {
      VideoFile& file = open_file(frame.file);
      if (!group_.is(frame.group)) group_.begin(frame, file);
      while (!group_.has(frame.packets)) group_.add_next(file, plan_.largest_sample);
    } catch (const ValueError& error) {
      group_.forget();
      throw SampleError(Kind::damaged, "its video " + std::string(error.what()));
    } catch (const SampleError&) {
      group_.forget();
      throw;
    }
    const std::optional<ThreadIo::Reads> reads = io_->since_last();
    if (reads) counts_.count_requests(reads->calls, reads->bytes);
    stored_bytes_ = reads ? std::optional(reads->bytes) : std::nullopt;
    const auto stored = group_.frame(frame);
    counts_.count_sample(std::ssize(stored));
    return stored;
  }
  std::optional<Bytes> stored_bytes() const override { return stored_bytes_; }

 private:
  static constexpr std::size_t kMaxOpen = 16;

  VideoFile& open_file(std::uint32_t file) {
    return *open_.get(file, [&] {
      auto opened = open(plan_.files[file]);
      counts_.count_opened();
      return opened;
    });
  }

  static std::unique_ptr<VideoFile> open(const std::string& path) {
    try {
      return std::make_unique<VideoFile>(path);
    } catch (const ValueError& error) {
      throw SampleError(Kind::unreadable, "its video " + std::string(error.what()));
    }
  }

  const VideoPlan& plan_;
  const ReadCounts& counts_;
  LruCache<std::unique_ptr<VideoFile>> open_{kMaxOpen};
  PacketGroup group_;
  std::optional<ThreadIo> io_;
  std::optional<Bytes> stored_bytes_;
};

class VideoSource final : public Source, public Objects {
 public:
  VideoSource(const SourceOptions& options, VideoPlan plan) : plan_(std::move(plan)) {
    if (options.access == FileAccess::pread) return;
    notes_.push_back(
        fmt::format("--access {} is for files that are read here; FFmpeg reads its own",
                    name_of(options.access)));
  }

  std::int64_t size() const override { return plan_.frames.size(); }
  std::string describe(std::int64_t sample) const override {
    return fmt::format("{}: frame {}", plan_.files[plan_.frames.frame(sample).file],
                       plan_.frames.number(sample));
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    return std::make_unique<VideoReader>(plan_, counts_);
  }
  const Objects* stored_objects() const override { return this; }
  std::int64_t objects() const override { return std::ssize(plan_.files); }
  void get_path(std::int64_t object, std::string& path) const override {
    path = plan_.files[static_cast<std::size_t>(object)];
  }
  std::vector<std::string> roots() const override { return plan_.files; }
  std::optional<FileAccess> access() const override { return FileAccess::pread; }
  std::vector<std::string> notes() const override { return notes_; }
  std::vector<Metric> metrics() const override {
    std::vector<Metric> metrics = counts_.metrics();
    if (const double distance = key_distance(); distance > 0)
      metrics.push_back(
          make_metric(metric::video_key_distance, "frames, by the first samples", distance));
    return metrics;
  }

 private:
  // Returns the mean length of the group of a sample. 0 without samples.
  double key_distance() const {
    constexpr std::int64_t kMaxSamples = 100'000;
    double frames = 0, squares = 0, length = 0;
    std::int64_t group = -1;
    const auto end_group = [&] {
      frames += length;
      squares += length * length;
      length = 0;
    };
    for (std::int64_t i = 0; i < std::min(size(), kMaxSamples); ++i) {
      const PlacedFrame frame = plan_.frames.frame(i);
      if (frame.group != group) end_group();
      group = frame.group;
      length = std::max(length, static_cast<double>(frame.packets_before) + 1);
    }
    end_group();
    return frames > 0 ? squares / frames : 0;
  }

  VideoPlan plan_;
  ReadCounts counts_;
  std::vector<std::string> notes_;
};

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_video(const SourceOptions& options, const SourceContext& context) {
  if (const auto reason = no_ffmpeg()) throw RunError("video: this program was " + *reason);
  std::vector<std::string> files = source::video_files(options.paths);
  source::Index index = source::index_of_videos(options, files, context);
  return std::make_unique<source::VideoSource>(
      options, source::VideoPlan{std::move(files), source::VideoFrames(std::move(index)),
                                 options.largest_sample});
}

}  // namespace loaderscope
