// FFmpeg's libraries, loaded with the first video. Linking them would load a hundred other
// libraries into every run of the program.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace loaderscope {

#define LOADERSCOPE_OF_AVUTIL(USE) \
  USE(av_buffer_ref)               \
  USE(av_buffer_unref)             \
  USE(av_dict_free)                \
  USE(av_dict_set)                 \
  USE(av_frame_alloc)              \
  USE(av_frame_free)               \
  USE(av_hwdevice_ctx_create)      \
  USE(av_log_set_level)            \
  USE(av_mallocz)                  \
  USE(av_strerror)
#define LOADERSCOPE_OF_AVCODEC(USE) \
  USE(av_packet_alloc)              \
  USE(av_packet_clone)              \
  USE(av_packet_free)               \
  USE(av_packet_unref)              \
  USE(avcodec_alloc_context3)       \
  USE(avcodec_find_decoder)         \
  USE(avcodec_flush_buffers)        \
  USE(avcodec_free_context)         \
  USE(avcodec_get_name)             \
  USE(avcodec_open2)                \
  USE(avcodec_receive_frame)        \
  USE(avcodec_send_packet)
#define LOADERSCOPE_OF_AVFORMAT(USE) \
  USE(av_find_best_stream)           \
  USE(av_read_frame)                 \
  USE(av_seek_frame)                 \
  USE(avformat_close_input)          \
  USE(avformat_open_input)
#define LOADERSCOPE_OF_SWSCALE(USE) \
  USE(sws_freeContext)              \
  USE(sws_getCachedContext)         \
  USE(sws_getCoefficients)          \
  USE(sws_scale)                    \
  USE(sws_setColorspaceDetails)

// Functions in use, by name.
struct Ffmpeg {
#define LOADERSCOPE_MEMBER(name) decltype(&::name) name = nullptr;
  LOADERSCOPE_OF_AVUTIL(LOADERSCOPE_MEMBER)
  LOADERSCOPE_OF_AVCODEC(LOADERSCOPE_MEMBER)
  LOADERSCOPE_OF_AVFORMAT(LOADERSCOPE_MEMBER)
  LOADERSCOPE_OF_SWSCALE(LOADERSCOPE_MEMBER)
#undef LOADERSCOPE_MEMBER
};

// Requires that no_ffmpeg() returns nothing.
const Ffmpeg& ffmpeg();

// Returns FFmpeg's message for a negative result.
std::string ffmpeg_error(int result);

struct FreesFfmpeg {
  void operator()(AVPacket* packet) const { ffmpeg().av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { ffmpeg().av_frame_free(&frame); }
  void operator()(AVCodecContext* context) const { ffmpeg().avcodec_free_context(&context); }
  void operator()(AVFormatContext* context) const { ffmpeg().avformat_close_input(&context); }
  void operator()(SwsContext* context) const { ffmpeg().sws_freeContext(context); }
  void operator()(AVBufferRef* buffer) const { ffmpeg().av_buffer_unref(&buffer); }
};
template <class T>
using FfmpegPtr = std::unique_ptr<T, FreesFfmpeg>;

struct CodecPlan {
  AVCodecID codec = AV_CODEC_ID_NONE;
  int width = 0, height = 0;
  int delay = 0;  // minimum number of packets before the first frame
  std::span<const std::byte> setup;
  std::int64_t largest_pixels = 0;  // larger frames are refused before memory is allocated
  AVBufferRef* gpu = nullptr;       // decodes, and keeps the frames; null: the CPU decodes
};
// Returns the first GPU as a decoder of videos. Throws ValueError.
FfmpegPtr<AVBufferRef> open_gpu_decoder();
// Opens a decoder with one thread. Throws ValueError with a text that continues "PATH: ".
FfmpegPtr<AVCodecContext> open_codec(const CodecPlan& plan);

}  // namespace loaderscope
