#include "source/compression.h"

#include <fmt/format.h>

#include <array>

#include "built_with.h"
#include "source/shard_bytes.h"

namespace loaderscope {
namespace {

std::optional<std::string> is_only_known() {
  return "it is recognised and not read; pack with zstd instead.";
}

constexpr std::size_t kMaxMagic = 6;

}  // namespace

std::span<const CompressionRow> compression_table() {
  static const CompressionRow rows[] = {
      {{"gzip", "Unpack shards of gzip, pigz or bgzip with zlib.",
        reason_missing<built_with::kZlib>},
       "\x1f\x8b",
       "gunzip",
       if_built(built_with::kZlib, source::make_gzip_unpacker),
       if_built(built_with::kZlib, source::make_gzip_packer),
       "gz",
       "gz",
       "gzip"},
      {{"zstd", "Unpack shards of zstd or pzstd with libzstd.", reason_missing<built_with::kZstd>},
       "\x28\xb5\x2f\xfd",
       "unzstd",
       if_built(built_with::kZstd, source::make_zstd_unpacker),
       if_built(built_with::kZstd, source::make_zstd_packer),
       "zst",
       "zstd",
       "zstd"},
      {{"lz4", "Unpack shards of lz4 with liblz4.", reason_missing<built_with::kLz4>},
       "\x04\x22\x4d\x18",
       "unlz4",
       if_built(built_with::kLz4, source::make_lz4_unpacker),
       if_built(built_with::kLz4, source::make_lz4_packer),
       "lz4"},
      {{"xz", "Files of xz must be unpacked first.", is_only_known},
       "\xfd"
       "7zXZ",
       "unxz"},
      {{"bzip2", "Files of bzip2 must be unpacked first.", is_only_known}, "BZh", "bunzip2"},
  };
  return rows;
}

namespace source {

const CompressionRow* detect_compression(ShardBytes& shard) {
  std::array<char, kMaxMagic> first{};
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
