#include <array>

#include "base/has_ffmpeg.h"
#include "decode/codecs.h"
#include "decode/decoders.h"
#include "decode/first_bytes.h"

namespace loaderscope {
namespace {

using Make = std::unique_ptr<Decoder> (*)(const DecodeOptions& options);

#ifdef LOADERSCOPE_WITH_JPEG
constexpr Make kMakeJpeg = make_jpeg_decoder;
#else
constexpr Make kMakeJpeg = nullptr;
#endif
#ifdef LOADERSCOPE_WITH_PNG
constexpr Make kMakePng = make_png_decoder;
#else
constexpr Make kMakePng = nullptr;
#endif
#ifdef LOADERSCOPE_WITH_WEBP
constexpr Make kMakeWebp = make_webp_decoder;
#else
constexpr Make kMakeWebp = nullptr;
#endif

#ifdef LOADERSCOPE_WITH_FFMPEG
constexpr Make kMakeVideo = make_video_decoder;
#else
constexpr Make kMakeVideo = nullptr;
#endif

}  // namespace

std::span<const DecoderRow> decoder_table() {
  static const std::array<DecoderRow, 5> kTable = {{
      {{"jpeg", "JPEG by libjpeg-turbo: only the rows and columns of the crop are decoded.",
        kJpegUnavailable},
       begins_like_jpeg,
       kMakeJpeg},
      {{"png", "PNG by libspng: decoded down to the last row of the crop.", kPngUnavailable},
       begins_like_png,
       kMakePng},
      {{"webp", "WebP by libwebp, still images: only the crop is decoded.", kWebpUnavailable},
       begins_like_webp,
       kMakeWebp},
      {{"video", "Frames of videos by FFmpeg: from the key frame on, or from the frame before.",
        no_ffmpeg},
       begins_like_video_frame,
       kMakeVideo},
      {{"raw", "RGB pixels as they are behind a header of 16 bytes: nothing is decoded or copied."},
       begins_like_raw,
       make_raw_decoder},
  }};
  return kTable;
}

}  // namespace loaderscope
