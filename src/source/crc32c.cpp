// The checksum of TFRecord: CRC-32C, by the instruction that processors have for it.
#include <nmmintrin.h>

#include <cstring>

#include "source/tfrecord.h"

namespace loaderscope::source {
namespace {

__attribute__((target("sse4.2"))) std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xffffffff;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    sum = _mm_crc32_u64(sum, word);
  }
  auto last = static_cast<std::uint32_t>(sum);
  for (const std::byte byte : bytes) last = _mm_crc32_u8(last, std::to_integer<std::uint8_t>(byte));
  return ~last;
}

}  // namespace

std::optional<std::string> no_crc32c() {
  if (__builtin_cpu_supports("sse4.2") != 0) return std::nullopt;
  return "this processor has no SSE 4.2, by which the checksums are made.";
}

std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

}  // namespace loaderscope::source
