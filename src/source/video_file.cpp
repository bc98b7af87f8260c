#include "source/video_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <numeric>
#include <span>

#include "loaderscope/errors.h"
#include "source/index_cache.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/video.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

constexpr std::int64_t kMaxDelay = 32;                      // no codec's is longer
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;  // no video's frames have more

// Returns true if the packet is displayed. VP8 has separate packets for hidden frames.
bool is_shown(const AVPacket& packet, AVCodecID codec) {
  if ((packet.flags & AV_PKT_FLAG_DISCARD) != 0) return false;
  return codec != AV_CODEC_ID_VP8 || packet.size < 1 || (packet.data[0] & 0x10) != 0;
}

// Returns for each packet the number of frames displayed before its own.
std::vector<std::int64_t> sort_ranks(const std::vector<std::int64_t>& times) {
  std::vector<std::int64_t> packets(times.size()), ranks(times.size());
  std::iota(packets.begin(), packets.end(), 0);
  std::ranges::stable_sort(packets, {},
                           [&](std::int64_t i) { return times[static_cast<std::size_t>(i)]; });
  for (std::size_t rank = 0; rank < packets.size(); ++rank)
    ranks[static_cast<std::size_t>(packets[rank])] = static_cast<std::int64_t>(rank);
  return ranks;
}

// Returns the smallest delay in packets with which a codec can return the frames in presentation
// order.
std::int64_t decoding_delay(const std::vector<std::int64_t>& ranks) {
  std::int64_t delay = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    delay = std::max(delay, static_cast<std::int64_t>(i) - ranks[i]);
  return std::min(delay, kMaxDelay);
}

// Returns the delay that the codec reports after a key frame.
std::int64_t decoding_delay(const AVCodecParameters& codec, const AVPacket& key) {
  CodecPlan plan;
  plan.codec = codec.codec_id;
  plan.width = codec.width;
  plan.height = codec.height;
  if (codec.extradata_size > 0)
    plan.setup =
        std::as_bytes(std::span(codec.extradata, static_cast<std::size_t>(codec.extradata_size)));
  plan.largest_pixels = kMaxPixels;
  const FfmpegPtr<AVCodecContext> context = open_codec(plan);
  ffmpeg().avcodec_send_packet(context.get(), &key);  // the sample's own decode reports faults
  return std::clamp<std::int64_t>(context->has_b_frames, 0, kMaxDelay);
}

}  // namespace

VideoFile::VideoFile(const std::string& path) {
  const Ffmpeg& av = ffmpeg();
  AVFormatContext* file = nullptr;
  // A path is never a protocol's, nor its content a list of others.
  AVDictionary* options = nullptr;
  av.av_dict_set(&options, "format_whitelist", "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm", 0);
  const int result = av.avformat_open_input(&file, ("file:" + path).c_str(), nullptr, &options);
  av.av_dict_free(&options);
  if (result < 0)
    throw ValueError(
        "is no video file that can be read, or not whole: FFmpeg says " + ffmpeg_error(result),
        "copy it again, or leave it out");
  file_.reset(file);
  const int stream = av.av_find_best_stream(file, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (stream < 0) throw ValueError("holds no video");
  for (unsigned i = 0; i < file->nb_streams; ++i) {
    if (static_cast<int>(i) != stream) file->streams[i]->discard = AVDISCARD_ALL;
  }
  stream_ = file->streams[stream];
  if (codec().width <= 0 || codec().height <= 0)
    throw ValueError("does not say how many pixels its video has");
  packet_.reset(av.av_packet_alloc());
}

const AVPacket* VideoFile::next() {
  const Ffmpeg& av = ffmpeg();
  if (is_held_) {
    is_held_ = false;
    return packet_.get();
  }
  for (;;) {
    av.av_packet_unref(packet_.get());
    const int result = av.av_read_frame(file_.get(), packet_.get());
    if (result == AVERROR_EOF) return nullptr;
    if (result < 0) throw ValueError("cannot be read on: FFmpeg says " + ffmpeg_error(result));
    if (packet_->stream_index != stream_->index) continue;
    if (packet_->pts == AV_NOPTS_VALUE) packet_->pts = packet_->dts;
    if (packet_->dts == AV_NOPTS_VALUE) packet_->dts = packet_->pts;
    return packet_.get();
  }
}

bool VideoFile::finds_key(std::int64_t pts) {
  while (const AVPacket* packet = next()) {
    if ((packet->flags & AV_PKT_FLAG_KEY) == 0 || packet->pts < pts) continue;
    is_held_ = packet->pts == pts;
    return is_held_;
  }
  return false;
}

// Seeks to the key frame. Starts at the beginning if the file's index is missing, or leads too far.
void VideoFile::go_to_key(std::int64_t pts) {
  for (const std::int64_t from : {pts, std::numeric_limits<std::int64_t>::min()}) {
    is_held_ = false;
    const int result =
        ffmpeg().av_seek_frame(file_.get(), stream_->index, from, AVSEEK_FLAG_BACKWARD);
    if (result >= 0 && finds_key(pts)) return;
  }
  throw ValueError("has no index by which the key frame before it is found");
}

VideoListing list_frames(VideoFile& file) {
  VideoListing listing;
  std::vector<std::int64_t> decoded;  // the times of packets
  while (const AVPacket* packet = file.next()) {
    if (packet->pts == AV_NOPTS_VALUE)
      throw ValueError("has packets without a time", "write it again: ffmpeg -i OLD -c copy NEW");
    const std::int64_t number = std::ssize(decoded);
    if ((packet->flags & AV_PKT_FLAG_KEY) != 0) {
      if (listing.keys.empty()) listing.delay = decoding_delay(file.codec(), *packet);
      listing.keys.push_back({packet->pts, number});
    }
    decoded.push_back(packet->pts);
    if (is_shown(*packet, file.codec().codec_id))
      listing.frames.push_back({packet->pts, number, number, 0});
  }
  if (decoded.empty()) throw ValueError("holds no frame");
  if (listing.keys.empty()) throw ValueError("has no key frame, from which decoding could begin");
  const std::vector<std::int64_t> ranks = sort_ranks(decoded);
  listing.delay = std::max(listing.delay, decoding_delay(ranks));
  std::ranges::stable_sort(listing.frames, {}, &ListedFrame::pts);
  // A frame displayed before its key frame in the file needs the key frame before that one.
  std::erase_if(listing.frames, [&](ListedFrame& frame) {
    const auto found = std::partition_point(
        listing.keys.begin(), listing.keys.end(),
        [&](const ListedKey& key) { return key.packet <= frame.packet && key.pts <= frame.pts; });
    if (found == listing.keys.begin()) return true;
    frame.key = static_cast<std::size_t>(found - listing.keys.begin() - 1);
    frame.last_packet = std::clamp(ranks[static_cast<std::size_t>(frame.packet)] + listing.delay,
                                   frame.packet, frame.packet + 2 * kMaxDelay);
    return false;
  });
  if (listing.frames.empty()) throw ValueError("has no frame that can be decoded");
  return listing;
}

// The index of frames of videos: a group of frames that begins with a key frame is a folder of it,
// whose name is the time of that. The extents count packets.

namespace {

namespace fs = std::filesystem;

// Raised whenever the same files would be listed in another way.
constexpr std::string_view kFrameRules = "1";

struct ListedVideo {
  FolderStamp stamp;
  VideoListing listing;
};

ListedVideo list_video(const std::string& path) {
  struct stat facts {};
  ::stat(path.c_str(), &facts);
  try {
    VideoFile file(path);
    return {version_stamp(facts), list_frames(file)};
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
}

std::int32_t packet_number(std::int64_t packet) {
  if (packet > INT32_MAX) throw RunError("a video has more than 2^31 packets", "cut it into parts");
  return static_cast<std::int32_t>(packet);
}

void add_video(const ListedVideo& video, std::uint32_t root, std::int64_t every,
               IndexBuilder& builder) {
  const VideoListing& listing = video.listing;
  builder.add_folder({root, "", packet_number(listing.delay), video.stamp});  // is watched
  std::vector<std::uint32_t> groups;
  for (const ListedKey& key : listing.keys)
    groups.push_back(
        builder.add_folder({root, std::to_string(key.pts), packet_number(key.packet), {}}));
  for (std::size_t i = 0; i < listing.frames.size(); i += static_cast<std::size_t>(every)) {
    const ListedFrame& frame = listing.frames[i];
    builder.add(groups[frame.key], std::to_string(i));
    const std::int64_t first = listing.keys[frame.key].packet;
    builder.place_last({static_cast<std::uint32_t>(frame.packet - first),
                        static_cast<std::uint32_t>(frame.last_packet - first + 1)});
  }
}

Index index_frames(const std::vector<std::string>& files, std::int64_t every,
                   std::string_view identity, const SourceContext& context) {
  std::vector<ListedVideo> videos(files.size());
  for_each_index(std::ssize(files), "listing frames", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    videos[place] = list_video(files[place]);
  });
  IndexBuilder builder;
  for (std::uint32_t i = 0; i < files.size(); ++i) add_video(videos[i], i, every, builder);
  return builder.finish(identity);
}

bool is_video(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with('.') &&
         std::ranges::any_of(kVideoSuffixes,
                             [&](std::string_view suffix) { return name.ends_with(suffix); });
}

// All below a folder: data sets have one for each camera.
std::vector<std::string> videos_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (is_video(entries->path()) && entries->is_regular_file(ignored))
      files.push_back(entries->path().string());
  }
  if (error) throw RunError(shown_text(folder) + ": cannot be listed (" + error.message() + ")");
  if (files.empty()) {
    throw RunError(fmt::format("{}: holds no files named *{}", shown_text(folder),
                               fmt::join(kVideoSuffixes, ", *")),
                   "check the path given with --data");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> video_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(path, ignored);
    for (std::string& file : is_folder ? videos_below(path) : named_files({path}, kVideoSuffixes))
      files.push_back(std::move(file));
  }
  return files;
}

Index index_of_videos(const SourceOptions& options, const std::vector<std::string>& files,
                      const SourceContext& context) {
  const std::int64_t every = count_parameter(options.words, "every", 1);
  std::string key = fmt::format("video {} {} ", kFrameRules, every);
  for (const std::string& file : files) append_path(key, file);
  return cached_index(options, key, key, files, 0, context,
                      [&] { return index_frames(files, every, key, context); })
      .index;
}

VideoFrames::VideoFrames(Index index) : index_(std::move(index)) {
  for (std::int64_t i = 0; i < index_.folders(); ++i) {
    const FolderEntry folder = index_.folder(i);
    if (!folder.relative.empty()) continue;
    delays_.resize(std::max<std::size_t>(delays_.size(), std::size_t{folder.root} + 1));
    delays_[folder.root] = folder.label;
  }
}

PlacedFrame VideoFrames::frame(std::int64_t sample) const {
  thread_local std::string number;
  PlacedFrame frame;
  frame.group = index_.file(sample, number);
  const FolderEntry group = index_.folder(frame.group);
  frame.file = group.root;
  frame.first_packet = group.label;
  std::from_chars(group.relative.data(), group.relative.data() + group.relative.size(),
                  frame.key_time);
  const StoredExtent packets = index_.extent(sample).value_or(StoredExtent{});
  frame.packets_before = packets.begin;
  frame.packets = std::max(packets.bytes, packets.begin + 1);
  frame.delay = group.root < delays_.size() ? delays_[group.root] : 0;
  return frame;
}

std::string VideoFrames::number(std::int64_t sample) const {
  std::string number;
  index_.file(sample, number);
  return number;
}

}  // namespace loaderscope::source
