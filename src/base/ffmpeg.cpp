#include "base/ffmpeg.h"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/has_ffmpeg.h"
#include "base/symbol.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

// Takes no format in which the CPU would decode.
AVPixelFormat take_gpu_frames(AVCodecContext*, const AVPixelFormat* formats) {
  for (; *formats != AV_PIX_FMT_NONE; ++formats)
    if (*formats == AV_PIX_FMT_CUDA) return *formats;
  return AV_PIX_FMT_NONE;
}

struct Loaded {
  Ffmpeg functions;
  std::optional<std::string> missing;
};

// Opens the library of the version whose headers the build used. Other versions have other
// structures.
void* library(std::string_view name, int version, std::optional<std::string>& missing) {
  const std::string file = "lib" + std::string(name) + ".so." + std::to_string(version);
  void* handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr && !missing) {
    missing = "built for the FFmpeg that has " + file +
              ", which is not here; install it, or the headers of the one that is here "
              "(libavformat-dev) and build again.";
  }
  return handle;
}

template <class Function>
void find(void* handle, const char* name, Function& function, std::optional<std::string>& missing) {
  if (handle == nullptr) return;
  if (!find_symbol(function, handle, name) && !missing)
    missing =
        "built for an FFmpeg that has " + std::string(name) + ", unlike that here; build again.";
}

Loaded load() {
  Loaded loaded;
  auto& [to, missing] = loaded;
  void* handle = nullptr;
#define LOADERSCOPE_FIND(name) find(handle, #name, to.name, missing);
  handle = library("avutil", LIBAVUTIL_VERSION_MAJOR, missing);
  LOADERSCOPE_OF_AVUTIL(LOADERSCOPE_FIND)
  handle = library("avcodec", LIBAVCODEC_VERSION_MAJOR, missing);
  LOADERSCOPE_OF_AVCODEC(LOADERSCOPE_FIND)
  handle = library("avformat", LIBAVFORMAT_VERSION_MAJOR, missing);
  LOADERSCOPE_OF_AVFORMAT(LOADERSCOPE_FIND)
  handle = library("swscale", LIBSWSCALE_VERSION_MAJOR, missing);
  LOADERSCOPE_OF_SWSCALE(LOADERSCOPE_FIND)
#undef LOADERSCOPE_FIND
  if (!missing) to.av_log_set_level(AV_LOG_QUIET);  // prints by itself otherwise
  return loaded;
}

const Loaded& loaded_once() {
  static const Loaded loaded = load();
  return loaded;
}

}  // namespace

std::optional<std::string> no_ffmpeg() { return loaded_once().missing; }
const Ffmpeg& ffmpeg() { return loaded_once().functions; }

std::string ffmpeg_error(int result) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  ffmpeg().av_strerror(result, text.data(), text.size());
  return text.data();
}

FfmpegPtr<AVBufferRef> open_gpu_decoder() {
  AVBufferRef* gpu = nullptr;
  const int result = ffmpeg().av_hwdevice_ctx_create(&gpu, AV_HWDEVICE_TYPE_CUDA, "0", nullptr, 0);
  if (result < 0) throw ValueError("FFmpeg finds no GPU that decodes: " + ffmpeg_error(result));
  return FfmpegPtr<AVBufferRef>(gpu);
}

FfmpegPtr<AVCodecContext> open_codec(const CodecPlan& plan) {
  const Ffmpeg& av = ffmpeg();
  const AVCodec* codec = av.avcodec_find_decoder(plan.codec);
  if (codec == nullptr) {
    throw ValueError(std::string("its frames are coded by ") + av.avcodec_get_name(plan.codec) +
                     ", which FFmpeg cannot decode here");
  }
  FfmpegPtr<AVCodecContext> context(av.avcodec_alloc_context3(codec));
  if (!context) throw ValueError("there is no memory for its codec");
  context->thread_count = 1;
  context->max_pixels = plan.largest_pixels;
  context->width = plan.width;
  context->height = plan.height;
  context->has_b_frames = plan.delay;
  if (!plan.setup.empty()) {
    auto* setup =
        static_cast<std::uint8_t*>(av.av_mallocz(plan.setup.size() + AV_INPUT_BUFFER_PADDING_SIZE));
    if (setup == nullptr) throw ValueError("there is no memory for its codec");
    std::memcpy(setup, plan.setup.data(), plan.setup.size());
    context->extradata = setup;
    context->extradata_size = static_cast<int>(plan.setup.size());
  }
  if (plan.gpu != nullptr) {
    context->hw_device_ctx = av.av_buffer_ref(plan.gpu);
    context->get_format = take_gpu_frames;
  }
  const int result = av.avcodec_open2(context.get(), codec, nullptr);
  if (result < 0) throw ValueError("its codec cannot be set up: " + ffmpeg_error(result));
  return context;
}

}  // namespace loaderscope
