// Which codecs the program was built with: for the tables of decoders and of encoders.
#pragma once

#include <optional>
#include <string>

namespace loaderscope {

using Unavailable = std::optional<std::string> (*)();

#ifdef LOADERSCOPE_WITH_JPEG
inline constexpr Unavailable kJpegUnavailable = nullptr;
#else
inline constexpr Unavailable kJpegUnavailable = []() -> std::optional<std::string> {
  return "built without libjpeg-turbo; install libjpeg-dev and build again.";
};
#endif

#ifdef LOADERSCOPE_WITH_PNG
inline constexpr Unavailable kPngUnavailable = nullptr;
#else
inline constexpr Unavailable kPngUnavailable = []() -> std::optional<std::string> {
  return "built without libspng; install libspng-dev and build again.";
};
#endif

#ifdef LOADERSCOPE_WITH_WEBP
inline constexpr Unavailable kWebpUnavailable = nullptr;
#else
inline constexpr Unavailable kWebpUnavailable = []() -> std::optional<std::string> {
  return "built without libwebp; install libwebp-dev and build again.";
};
#endif

}  // namespace loaderscope
