#include <cstring>

#include "loaderscope/errors.h"
#include "source/arrow_file.h"
#include "source/page_codec.h"

namespace loaderscope::source {

ArrowUnpacker::ArrowUnpacker(std::int8_t codec) : unpacker_(arrow_codec(codec).make()) {}
ArrowUnpacker::~ArrowUnpacker() = default;

Bytes ArrowUnpacker::unpacked_bytes(std::span<const std::byte> stored) {
  std::int64_t size = 0;
  if (stored.empty()) return 0;
  if (stored.size() < sizeof size) throw ValueError("is damaged: packed values have no length");
  std::memcpy(&size, stored.data(), sizeof size);
  return size;
}

std::span<const std::byte> ArrowUnpacker::unpack(std::span<const std::byte> stored,
                                                 std::span<std::byte> to) {
  constexpr Bytes kNotPacked = -1;
  const Bytes size = unpacked_bytes(stored);
  if (stored.empty()) return {};
  const auto values = stored.subspan(sizeof size);
  if (size == kNotPacked) return values;
  if (size != std::ssize(to)) throw ValueError("is damaged: packed values have another length");
  unpacker_->unpack(values, to);
  return to;
}

}  // namespace loaderscope::source
