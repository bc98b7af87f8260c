#include <array>

#include "dataset/options.h"
#include "decode/codecs.h"
#include "loaderscope/decode.h"

namespace loaderscope::dataset {
namespace {

#ifdef LOADERSCOPE_WITH_JPEG
constexpr Encode kEncodeJpeg = encode_jpeg;
constexpr AddRestarts kAddRestarts = add_restarts_to_jpeg;
#else
constexpr Encode kEncodeJpeg = nullptr;
constexpr AddRestarts kAddRestarts = nullptr;
#endif
#ifdef LOADERSCOPE_WITH_PNG
constexpr Encode kEncodePng = encode_png;
#else
constexpr Encode kEncodePng = nullptr;
#endif
#ifdef LOADERSCOPE_WITH_WEBP
constexpr Encode kEncodeWebp = encode_webp;
#else
constexpr Encode kEncodeWebp = nullptr;
#endif

constexpr std::array<FormatRow, 4> kTable = {{
    {{"jpeg", "JPEG, baseline or progressive.", kJpegUnavailable},
     ".jpg",
     true,
     kEncodeJpeg,
     kAddRestarts},
    {{"png", "PNG, without losses.", kPngUnavailable}, ".png", false, kEncodePng},
    {{"webp", "WebP with losses.", kWebpUnavailable}, ".webp", true, kEncodeWebp},
    {{"raw", "A 16-byte header and the pixels: nothing to decode."}, ".lsraw", false, encode_raw},
}};

}  // namespace

std::span<const FormatRow> format_table() { return kTable; }

std::string_view suffix_of_image(std::span<const std::byte> stored) {
  for (const DecoderRow& decoder : decoder_table()) {
    if (!decoder.recognises(stored)) continue;
    for (const FormatRow& format : kTable) {
      if (format.row.name == decoder.row.name) return format.suffix;
    }
  }
  return "";
}

}  // namespace loaderscope::dataset
