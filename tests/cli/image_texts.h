// Made images as the texts of files.
#pragma once

#include <string>

#include "unit/decode/made_jpeg.h"

namespace loaderscope::testing_cli {

inline std::string byte_text(const made::ByteVector& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string jpeg(const made::JpegWish& wish = {}, int channels = 3) {
  return byte_text(made::encode_jpeg(made::photograph(64, 48, 7, 1.0, channels), wish));
}

}  // namespace loaderscope::testing_cli
