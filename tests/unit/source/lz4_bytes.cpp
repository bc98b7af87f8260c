#include <lz4frame.h>

#include <stdexcept>

#include "unit/source/packed_bytes.h"

namespace loaderscope::source {

std::string pack_by_lz4(std::string_view text) {
  LZ4F_preferences_t as_lz4{};
  as_lz4.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  std::string packed(::LZ4F_compressFrameBound(text.size(), &as_lz4), '\0');
  const std::size_t size =
      ::LZ4F_compressFrame(packed.data(), packed.size(), text.data(), text.size(), &as_lz4);
  if (::LZ4F_isError(size) != 0) throw std::runtime_error("LZ4F_compressFrame");
  packed.resize(size);
  return packed;
}

}  // namespace loaderscope::source
