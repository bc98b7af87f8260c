#include <array>

#include "dataset/options.h"

namespace loaderscope::dataset {
namespace {

struct Library {
  Encode encode;
  std::optional<std::string> (*unavailable)();
};

#ifdef LOADERSCOPE_WITH_JPEG
constexpr Library kJpeg = {encode_jpeg, nullptr};
#else
constexpr Library kJpeg = {
    nullptr, []() -> std::optional<std::string> {
      return "built without libjpeg-turbo; install libjpeg-dev and build again.";
    }};
#endif

#ifdef LOADERSCOPE_WITH_PNG
constexpr Library kPng = {encode_png, nullptr};
#else
constexpr Library kPng = {nullptr, []() -> std::optional<std::string> {
                            return "built without libspng; install libspng-dev and build again.";
                          }};
#endif

#ifdef LOADERSCOPE_WITH_WEBP
constexpr Library kWebp = {encode_webp, nullptr};
#else
constexpr Library kWebp = {nullptr, []() -> std::optional<std::string> {
                             return "built without libwebp; install libwebp-dev and build again.";
                           }};
#endif

constexpr std::array<FormatRow, 4> kTable = {{
    {{"jpeg", "JPEG, baseline or progressive.", kJpeg.unavailable}, ".jpg", true, kJpeg.encode},
    {{"png", "PNG, without losses.", kPng.unavailable}, ".png", false, kPng.encode},
    {{"webp", "WebP with losses.", kWebp.unavailable}, ".webp", true, kWebp.encode},
    {{"raw", "A 16-byte header and the pixels: nothing to decode."}, ".lsraw", false, encode_raw},
}};

}  // namespace

std::span<const FormatRow> format_table() { return kTable; }

}  // namespace loaderscope::dataset
