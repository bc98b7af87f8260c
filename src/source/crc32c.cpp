// The checksum of TFRecord: CRC-32C, by the instruction that processors have for it.
#ifdef __aarch64__
#include <arm_acle.h>
#include <sys/auxv.h>
#else
#include <nmmintrin.h>
#endif

#include <cstring>

#include "source/tfrecord.h"

namespace loaderscope::source {
namespace {

#ifdef __aarch64__
#ifdef __clang__
#define LOADERSCOPE_WITH_CRC __attribute__((target("crc")))
#else
#define LOADERSCOPE_WITH_CRC __attribute__((target("+crc")))
#endif
LOADERSCOPE_WITH_CRC std::uint32_t of_word(std::uint32_t sum, std::uint64_t word) {
  return __crc32cd(sum, word);
}
LOADERSCOPE_WITH_CRC std::uint32_t of_byte(std::uint32_t sum, std::uint8_t byte) {
  return __crc32cb(sum, byte);
}
constexpr const char* kMissing = "this processor has no CRC instructions";
bool has_crc() { return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#else
#define LOADERSCOPE_WITH_CRC __attribute__((target("sse4.2")))
LOADERSCOPE_WITH_CRC std::uint32_t of_word(std::uint32_t sum, std::uint64_t word) {
  return static_cast<std::uint32_t>(_mm_crc32_u64(sum, word));
}
LOADERSCOPE_WITH_CRC std::uint32_t of_byte(std::uint32_t sum, std::uint8_t byte) {
  return _mm_crc32_u8(sum, byte);
}
constexpr const char* kMissing = "this processor has no SSE 4.2";
bool has_crc() { return __builtin_cpu_supports("sse4.2") != 0; }
#endif

LOADERSCOPE_WITH_CRC std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0xffffffff;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    sum = of_word(sum, word);
  }
  for (const std::byte byte : bytes) sum = of_byte(sum, std::to_integer<std::uint8_t>(byte));
  return ~sum;
}

}  // namespace

std::optional<std::string> no_crc32c() {
  if (has_crc()) return std::nullopt;
  return std::string(kMissing) + ", by which the checksums are made.";
}

std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

}  // namespace loaderscope::source
