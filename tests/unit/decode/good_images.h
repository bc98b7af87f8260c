// A good image of each format that is built in. The test of each decoder adds its own.
#pragma once

#include <map>
#include <string_view>

#include "unit/decode/made_images.h"

namespace loaderscope::made {

using MakeGoodImage = ByteVector (*)();

// The images by the name of the decoder's row.
inline std::map<std::string_view, MakeGoodImage>& good_images() {
  static std::map<std::string_view, MakeGoodImage> images;
  return images;
}

inline bool add_good_image(std::string_view row, MakeGoodImage make) {
  return good_images().emplace(row, make).second;
}

}  // namespace loaderscope::made
