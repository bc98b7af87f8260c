// Text of others for formats that accept only UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Replaces each byte that belongs to no letter of UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace loaderscope
