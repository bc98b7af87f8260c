#include "source/video_loop.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ffmpeg.h"
#include "base/has_ffmpeg.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"
#include "source/video_file.h"

namespace loaderscope::source {
namespace {

constexpr Bytes kMaxPackets = 64'000'000;            // bytes
constexpr std::int64_t kMaxFramePixels = 1LL << 26;  // 8192 x 8192

class PacketLoop final : public VideoLoop {
 public:
  PacketLoop(const std::string& path, bool on_gpu)
      : file_(path), frame_(ffmpeg().av_frame_alloc()) {
    Bytes bytes = 0;
    while (const AVPacket* packet = file_.next()) {
      packets_.emplace_back(ffmpeg().av_packet_clone(packet));
      bytes += packet->size;
      if (bytes > kMaxPackets) break;
    }
    if (packets_.empty()) throw ValueError("holds no packets");
    if (on_gpu) gpu_ = open_gpu_decoder();
    CodecPlan plan;
    const AVCodecParameters& video = file_.codec();
    plan.codec = video.codec_id;
    plan.width = video.width;
    plan.height = video.height;
    plan.setup =
        std::as_bytes(std::span(video.extradata, static_cast<std::size_t>(video.extradata_size)));
    plan.largest_pixels = kMaxFramePixels;
    plan.gpu = gpu_.get();
    context_ = open_codec(plan);
  }

  std::int64_t decode() override {
    ffmpeg().avcodec_flush_buffers(context_.get());
    std::int64_t frames = 0;
    for (const FfmpegPtr<AVPacket>& packet : packets_) {
      check(ffmpeg().avcodec_send_packet(context_.get(), packet.get()));
      frames += take_frames();
    }
    check(ffmpeg().avcodec_send_packet(context_.get(), nullptr));
    return frames + take_frames();
  }

  std::string codec() const override {
    const AVCodecParameters& video = file_.codec();
    return fmt::format("{}, {}x{}", ffmpeg().avcodec_get_name(video.codec_id), video.width,
                       video.height);
  }

 private:
  std::int64_t take_frames() {
    std::int64_t frames = 0;
    for (;;) {
      const int result = ffmpeg().avcodec_receive_frame(context_.get(), frame_.get());
      if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return frames;
      check(result);
      if (gpu_ && frame_->format != AV_PIX_FMT_CUDA)
        throw ValueError("is decoded by the CPU: the GPU does not decode " + codec());
      ++frames;
    }
  }

  static void check(int result) {
    if (result < 0) throw ValueError("cannot be decoded: " + ffmpeg_error(result));
  }

  VideoFile file_;
  std::vector<FfmpegPtr<AVPacket>> packets_;
  FfmpegPtr<AVFrame> frame_;
  FfmpegPtr<AVBufferRef> gpu_;
  FfmpegPtr<AVCodecContext> context_;
};

// Names the video in what goes wrong.
class NamedLoop final : public VideoLoop {
 public:
  NamedLoop(std::string path, bool on_gpu) : path_(std::move(path)) {
    named([&] {
      loop_.emplace(path_, on_gpu);
      return 0;
    });
  }
  std::int64_t decode() override {
    return named([&] { return loop_->decode(); });
  }
  std::string codec() const override { return loop_->codec(); }

 private:
  template <class Work>
  std::int64_t named(const Work& work) {
    try {
      return work();
    } catch (const ValueError& error) {
      throw RunError(path_ + ": " + error.what());
    }
  }

  std::string path_;
  std::optional<PacketLoop> loop_;
};

}  // namespace

std::unique_ptr<VideoLoop> make_video_loop(const std::string& path, bool on_gpu) {
  if (const auto reason = no_ffmpeg()) throw RunError("this program was " + *reason);
  return std::make_unique<NamedLoop>(path, on_gpu);
}

}  // namespace loaderscope::source
