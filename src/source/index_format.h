// The bytes of an index, in the byte order of the machine that wrote them:
//   header | folder records | block offsets | labels | extents | identity | folder text | names
// A block holds kBlock names. Each name has these parts:
// - one byte: the number of bytes shared with the name before, and a bit if its folder differs,
// - the folder as a varint if it differs,
// - the length of the rest as a varint,
// - the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace loaderscope::source {

inline constexpr std::array<char, 8> kIndexMagic = {'L', 'S', 'I', 'N', 'D', 'E', 'X', '1'};
inline constexpr std::int64_t kBlock = 16;
inline constexpr std::uint8_t kMaxShared = 127;
inline constexpr std::uint8_t kOtherFolder = 128;

inline constexpr std::uint64_t kLabels = 1, kExtents = 2;

struct IndexHeader {
  std::array<char, 8> magic = kIndexMagic;
  std::uint64_t checksum = 0;  // checksum of all following bytes
  std::uint64_t samples = 0;
  std::uint64_t folders = 0;
  std::uint64_t left_out = 0;
  std::uint64_t has = 0;  // kLabels, kExtents
  std::uint64_t identity_bytes = 0;
  std::uint64_t folder_text_bytes = 0;
  std::uint64_t name_bytes = 0;
};

struct FolderRecord {
  std::uint64_t text_begin = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t root = 0;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::int32_t label = 0;
  std::uint32_t unused = 0;
};

}  // namespace loaderscope::source
