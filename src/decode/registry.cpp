#include <array>

#include "decode/decoders.h"
#include "decode/first_bytes.h"

namespace loaderscope {
namespace {

struct Library {
  std::unique_ptr<Decoder> (*make)(const DecodeOptions& options);
  std::optional<std::string> (*unavailable)();
};

#ifdef LOADERSCOPE_WITH_JPEG
constexpr Library kJpeg = {make_jpeg_decoder, nullptr};
#else
constexpr Library kJpeg = {
    nullptr, []() -> std::optional<std::string> {
      return "built without libjpeg-turbo; install libjpeg-dev and build again.";
    }};
#endif

#ifdef LOADERSCOPE_WITH_PNG
constexpr Library kPng = {make_png_decoder, nullptr};
#else
constexpr Library kPng = {nullptr, []() -> std::optional<std::string> {
                            return "built without libspng; install libspng-dev and build again.";
                          }};
#endif

#ifdef LOADERSCOPE_WITH_WEBP
constexpr Library kWebp = {make_webp_decoder, nullptr};
#else
constexpr Library kWebp = {nullptr, []() -> std::optional<std::string> {
                             return "built without libwebp; install libwebp-dev and build again.";
                           }};
#endif

}  // namespace

std::span<const DecoderRow> decoder_table() {
  static const std::array<DecoderRow, 4> kTable = {{
      {{"jpeg", "JPEG by libjpeg-turbo: only the rows and columns of the crop are decoded.",
        kJpeg.unavailable},
       begins_like_jpeg,
       kJpeg.make},
      {{"png", "PNG by libspng: decoded down to the last row of the crop.", kPng.unavailable},
       begins_like_png,
       kPng.make},
      {{"webp", "WebP by libwebp, still images: only the crop is decoded.", kWebp.unavailable},
       begins_like_webp,
       kWebp.make},
      {{"raw", "RGB pixels as they are behind a header of 16 bytes: nothing is decoded or copied."},
       begins_like_raw,
       make_raw_decoder},
  }};
  return kTable;
}

}  // namespace loaderscope
