#include "source/compression.h"

#include <fmt/format.h>

#include <array>

#include "source/shard_bytes.h"

namespace loaderscope {
namespace {

using MakePacker = std::unique_ptr<source::Packer> (*)();
using Unavailable = std::optional<std::string> (*)();

#ifdef LOADERSCOPE_WITH_ZLIB
constexpr auto kMakeGzip = source::make_gzip_unpacker;
constexpr MakePacker kPackGzip = source::make_gzip_packer;
constexpr Unavailable kNoGzip = nullptr;
#else
constexpr std::unique_ptr<source::Unpacker> (*kMakeGzip)() = nullptr;
constexpr MakePacker kPackGzip = nullptr;
constexpr Unavailable kNoGzip = []() -> std::optional<std::string> {
  return "built without zlib; install zlib1g-dev and build again.";
};
#endif

#ifdef LOADERSCOPE_WITH_ZSTD
constexpr auto kMakeZstd = source::make_zstd_unpacker;
constexpr MakePacker kPackZstd = source::make_zstd_packer;
constexpr Unavailable kNoZstd = nullptr;
#else
constexpr std::unique_ptr<source::Unpacker> (*kMakeZstd)() = nullptr;
constexpr MakePacker kPackZstd = nullptr;
constexpr Unavailable kNoZstd = []() -> std::optional<std::string> {
  return "built without libzstd; install libzstd-dev and build again.";
};
#endif

#ifdef LOADERSCOPE_WITH_LZ4
constexpr auto kMakeLz4 = source::make_lz4_unpacker;
constexpr MakePacker kPackLz4 = source::make_lz4_packer;
constexpr Unavailable kNoLz4 = nullptr;
#else
constexpr std::unique_ptr<source::Unpacker> (*kMakeLz4)() = nullptr;
constexpr MakePacker kPackLz4 = nullptr;
constexpr Unavailable kNoLz4 = []() -> std::optional<std::string> {
  return "built without liblz4; install liblz4-dev and build again.";
};
#endif

std::optional<std::string> is_only_known() {
  return "it is recognised and not read; pack with zstd instead.";
}

constexpr std::size_t kLongestMagic = 6;

}  // namespace

std::span<const CompressionRow> compression_table() {
  static const CompressionRow rows[] = {
      {{"gzip", "Shards packed by gzip, pigz or bgzip, unpacked by zlib.", kNoGzip},
       "\x1f\x8b",
       "gunzip",
       kMakeGzip,
       kPackGzip,
       "gz",
       "gz",
       "gzip"},
      {{"zstd", "Shards packed by zstd or pzstd, unpacked by libzstd.", kNoZstd},
       "\x28\xb5\x2f\xfd",
       "unzstd",
       kMakeZstd,
       kPackZstd,
       "zst",
       "zstd",
       "zstd"},
      {{"lz4", "Shards packed by lz4, unpacked by liblz4.", kNoLz4},
       "\x04\x22\x4d\x18",
       "unlz4",
       kMakeLz4,
       kPackLz4,
       "lz4"},
      {{"xz", "Files packed by xz.", is_only_known},
       "\xfd"
       "7zXZ",
       "unxz"},
      {{"bzip2", "Files packed by bzip2.", is_only_known}, "BZh", "bunzip2"},
  };
  return rows;
}

namespace source {

const CompressionRow* compression_of(ShardBytes& shard) {
  std::array<char, kLongestMagic> first{};
  const std::size_t got = shard.read(0, std::as_writable_bytes(std::span(first)));
  for (const CompressionRow& row : compression_table()) {
    if (std::string_view(first.data(), got).starts_with(row.magic)) return &row;
  }
  return nullptr;
}

std::string why_not_indexed(const CompressionRow& row) {
  return fmt::format(
      "is compressed ({}), so that no sample has a place of its own; {}unpack it with {}",
      row.row.name, row.make != nullptr ? "read it as a stream, tar:PATH?stream=1, or " : "",
      row.program);
}

std::string why_not_read(const CompressionRow& row) {
  std::string reason = row.row.reason_not_available().value_or("");
  if (reason.ends_with('.')) reason.pop_back();
  return fmt::format("is compressed ({}): {}, or unpack it with {}", row.row.name, reason,
                     row.program);
}

}  // namespace source
}  // namespace loaderscope
