#include "source/video_file.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "loaderscope/errors.h"

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
std::vector<std::int64_t> ranks_of(const std::vector<std::int64_t>& times) {
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
std::int64_t delay_of(const std::vector<std::int64_t>& ranks) {
  std::int64_t delay = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    delay = std::max(delay, static_cast<std::int64_t>(i) - ranks[i]);
  return std::min(delay, kMaxDelay);
}

// Returns the delay that the codec reports after a key frame.
std::int64_t delay_of(const AVCodecParameters& codec, const AVPacket& key) {
  CodecPlan plan;
  plan.codec = codec.codec_id;
  plan.width = codec.width;
  plan.height = codec.height;
  if (codec.extradata_size > 0)
    plan.setup =
        std::as_bytes(std::span(codec.extradata, static_cast<std::size_t>(codec.extradata_size)));
  plan.largest_pixels = kMaxPixels;
  const OfFfmpeg<AVCodecContext> context = open_codec(plan);
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
      if (listing.keys.empty()) listing.delay = delay_of(file.codec(), *packet);
      listing.keys.push_back({packet->pts, number});
    }
    decoded.push_back(packet->pts);
    if (is_shown(*packet, file.codec().codec_id))
      listing.frames.push_back({packet->pts, number, number, 0});
  }
  if (decoded.empty()) throw ValueError("holds no frame");
  if (listing.keys.empty()) throw ValueError("has no key frame, from which decoding could begin");
  const std::vector<std::int64_t> ranks = ranks_of(decoded);
  listing.delay = std::max(listing.delay, delay_of(ranks));
  std::ranges::stable_sort(listing.frames, {}, &ListedFrame::pts);
  // A frame displayed before its key frame in the file needs the key frame before that one.
  std::erase_if(listing.frames, [&](ListedFrame& frame) {
    const auto behind = std::partition_point(
        listing.keys.begin(), listing.keys.end(),
        [&](const ListedKey& key) { return key.packet <= frame.packet && key.pts <= frame.pts; });
    if (behind == listing.keys.begin()) return true;
    frame.key = static_cast<std::size_t>(behind - listing.keys.begin() - 1);
    frame.last_packet = std::clamp(ranks[static_cast<std::size_t>(frame.packet)] + listing.delay,
                                   frame.packet, frame.packet + 2 * kMaxDelay);
    return false;
  });
  if (listing.frames.empty()) throw ValueError("has no frame that can be decoded");
  return listing;
}

}  // namespace loaderscope::source
