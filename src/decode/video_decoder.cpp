// Frames of videos by FFmpeg: from the key frame before one, or on from the frame decoded last.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/ffmpeg.h"
#include "base/image_formats.h"
#include "base/thread_meter.h"
#include "decode/decoders.h"
#include "record/frame_counts.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;
constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kSlack = 64;  // bytes that FFmpeg may write after a picture
constexpr std::uint32_t kMaxVideoSide = 1U << 24;

struct StoredPacket {
  VideoPacketHeader header;
  std::span<const std::byte> data;
};

class StoredFrame {
 public:
  // Throws SampleError.
  void parse(std::span<const std::byte> stored) {
    header = take<VideoFrameHeader>(stored);
    setup = take(stored, header.setup_bytes);
    packets.clear();
    for (std::uint32_t i = 0; i < header.packets; ++i) {
      const auto packet = take<VideoPacketHeader>(stored);
      packets.push_back({packet, take(stored, packet.bytes)});
    }
    if (packets.empty()) throw SampleError(Kind::truncated, "it has no packet of a video");
  }

  VideoFrameHeader header;
  std::span<const std::byte> setup;
  std::vector<StoredPacket> packets;

 private:
  static std::span<const std::byte> take(std::span<const std::byte>& from, std::size_t bytes) {
    if (bytes > from.size()) throw SampleError(Kind::truncated, "its packets end early");
    const auto taken = from.first(bytes);
    from = from.subspan(bytes);
    return taken;
  }
  template <class T>
  static T take(std::span<const std::byte>& from) {
    T value;
    std::memcpy(&value, take(from, sizeof value).data(), sizeof value);
    return value;
  }
};

// One codec and its position in a video. Its setup is kept for the next video with the same setup.
class Codec {
 public:
  explicit Codec(std::int64_t largest_pixels) : largest_pixels_(largest_pixels) {}

  // Valid until the next call. Throws SampleError. `access`: grows by the frames that were decoded.
  const AVFrame& decode_frame(const StoredFrame& stored, FrameAccess& access) {
    set_up(stored);
    if (!can_continue(stored)) {
      begin(stored);
      access.is_seek = true;
    }
    try {
      return decode_to(stored, access.decoded);
    } catch (const SampleError&) {
      video_ = kNothing;
      throw;
    }
  }

 private:
  void set_up(const StoredFrame& stored) {
    const auto id = static_cast<AVCodecID>(stored.header.codec);
    const bool is_same = context_ && context_->codec_id == id &&
                         std::ranges::equal(setup_, stored.setup) &&
                         size_ == std::pair(stored.header.width, stored.header.height);
    if (is_same) return;
    context_.reset();
    video_ = kNothing;
    setup_.assign(stored.setup.begin(), stored.setup.end());
    size_ = {stored.header.width, stored.header.height};
    CodecPlan plan;
    plan.codec = id;
    plan.width = static_cast<int>(size_.first);
    plan.height = static_cast<int>(size_.second);
    plan.delay = static_cast<int>(std::min(stored.header.delay, 16U));
    plan.setup = setup_;
    plan.largest_pixels = largest_pixels_;
    try {
      context_ = open_codec(plan);
    } catch (const ValueError& error) {
      throw SampleError(Kind::unsupported, error.what());
    }
  }

  std::int64_t end_packet(const StoredFrame& stored) const {
    return stored.header.first_packet + std::ssize(stored.packets);
  }
  // Returns true if the frame follows from packets that the codec has not had.
  bool can_continue(const StoredFrame& stored) const {
    return video_ == stored.header.video && last_ < stored.header.time &&
           next_ >= stored.header.first_packet && next_ <= end_packet(stored) &&
           (!drains_ || next_ == end_packet(stored));
  }
  void begin(const StoredFrame& stored) {
    ffmpeg().avcodec_flush_buffers(context_.get());
    video_ = stored.header.video;
    next_ = stored.header.first_packet;
    last_ = kNothing;
    drains_ = false;
  }

  const AVFrame& decode_to(const StoredFrame& stored, std::int64_t& decoded) {
    for (std::size_t lost = 0; lost <= stored.packets.size();) {
      const int result = ffmpeg().avcodec_receive_frame(context_.get(), frame_.get());
      if (result == AVERROR(EAGAIN)) {
        send_next(stored);
        continue;
      }
      if (result == AVERROR_EOF) break;
      if (result < 0) {  // this frame was lost; the codec continues with the next
        ++lost;
        continue;
      }
      ++decoded;
      last_ = frame_->pts != AV_NOPTS_VALUE ? frame_->pts : frame_->best_effort_timestamp;
      if (last_ == stored.header.time) return checked();
      if (last_ > stored.header.time) break;
    }
    throw SampleError(Kind::damaged, "its packets were decoded, and it did not come of them");
  }

  void send_next(const StoredFrame& stored) {
    const Ffmpeg& av = ffmpeg();
    if (next_ >= end_packet(stored)) {
      drains_ = true;
      av.avcodec_send_packet(context_.get(), nullptr);
      return;
    }
    const StoredPacket& packet =
        stored.packets[static_cast<std::size_t>(next_ - stored.header.first_packet)];
    ++next_;
    // Passes the packet without a reference: the codec copies it, and appends the zeros that it
    // needs.
    packet_->data = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(packet.data.data()));
    packet_->size = static_cast<int>(packet.data.size());
    packet_->pts = packet.header.pts;
    packet_->dts = packet.header.dts;
    packet_->flags = packet.header.flags;
    const int result = av.avcodec_send_packet(context_.get(), packet_.get());
    packet_->data = nullptr;
    packet_->size = 0;
    if (result < 0 && packet.header.pts == stored.header.time)
      throw SampleError(Kind::damaged, "it cannot be decoded: " + ffmpeg_error(result));
  }

  const AVFrame& checked() const {
    const auto sides = std::pair(static_cast<std::uint32_t>(frame_->width),
                                 static_cast<std::uint32_t>(frame_->height));
    if (sides == size_) return *frame_;
    throw SampleError(Kind::unsupported,
                      fmt::format("it has {} x {} pixels where its video has {} x {}",
                                  frame_->width, frame_->height, size_.first, size_.second));
  }

  std::int64_t largest_pixels_;
  FfmpegPtr<AVCodecContext> context_;
  FfmpegPtr<AVFrame> frame_{ffmpeg().av_frame_alloc()};
  FfmpegPtr<AVPacket> packet_{ffmpeg().av_packet_alloc()};
  std::vector<std::byte> setup_;
  std::pair<std::uint32_t, std::uint32_t> size_;
  std::int64_t video_ = kNothing;  // the current video
  std::int64_t next_ = 0;          // the packet that it has not had
  std::int64_t last_ = kNothing;   // the time of the frame that it gave last
  bool drains_ = false;            // the codec knows that no more packets come
};

class VideoDecoder final : public Decoder {
 public:
  explicit VideoDecoder(const DecodeOptions& options)
      : options_(options), codec_(options.largest_pixels) {}

  ImageHeader open(std::span<const std::byte> stored) override {
    stored_.parse(stored);
    const auto [width, height] = std::pair(stored_.header.width, stored_.header.height);
    if (width == 0 || height == 0)
      throw SampleError(Kind::damaged, "its video says that it has no pixels");
    if (width > kMaxVideoSide || height > kMaxVideoSide) {
      throw SampleError(Kind::too_large,
                        fmt::format("its video asks for {} x {} pixels", width, height));
    }
    header_ = {static_cast<int>(width), static_cast<int>(height)};
    check_size(header_, options_);
    return header_;
  }

  Pixels decode(const Region& region) override {
    check_region(region, header_);
    FrameAccess access;
    const Nanos begun = options_.frames != nullptr ? monotonic_now() : 0;
    const auto count = [&](std::int64_t used) {
      if (options_.frames != nullptr) options_.frames->count(access, used, monotonic_now() - begun);
    };
    try {
      const std::uint8_t* pixels = convert_frame(codec_.decode_frame(stored_, access));
      count(1);
      return {pixels + static_cast<std::size_t>(region.y) * stride() +
                  static_cast<std::size_t>(region.x) * kChannels,
              stride(), region};
    } catch (const SampleError&) {
      count(0);
      throw;
    }
  }

 private:
  std::size_t stride() const { return static_cast<std::size_t>(header_.width) * kChannels; }

  std::uint8_t* convert_frame(const AVFrame& frame) {
    const Ffmpeg& av = ffmpeg();
    scaler_.reset(av.sws_getCachedContext(
        scaler_.release(), frame.width, frame.height, static_cast<AVPixelFormat>(frame.format),
        frame.width, frame.height, AV_PIX_FMT_RGB24, SWS_BILINEAR, nullptr, nullptr, nullptr));
    if (!scaler_)
      throw SampleError(Kind::unsupported, "its pixels are of a kind that does not become RGB");
    if (frame.colorspace != AVCOL_SPC_UNSPECIFIED && frame.colorspace != AVCOL_SPC_RGB) {
      const int* rgb_coefficients = av.sws_getCoefficients(SWS_CS_DEFAULT);
      av.sws_setColorspaceDetails(scaler_.get(), av.sws_getCoefficients(frame.colorspace),
                                  frame.color_range == AVCOL_RANGE_JPEG ? 1 : 0, rgb_coefficients,
                                  1, 0, 1 << 16, 1 << 16);
    }
    std::uint8_t* rgb = rgb_.take(stride() * static_cast<std::size_t>(header_.height) + kSlack);
    std::uint8_t* planes[4] = {rgb};
    const int strides[4] = {static_cast<int>(stride())};
    av.sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, planes, strides);
    return rgb;
  }

  DecodeOptions options_;
  Codec codec_;
  ImageHeader header_;
  StoredFrame stored_;
  FfmpegPtr<SwsContext> scaler_;
  PixelBuffer rgb_;
};

}  // namespace

std::unique_ptr<Decoder> make_video_decoder(const DecodeOptions& options) {
  return std::make_unique<VideoDecoder>(options);
}

}  // namespace loaderscope
