// Compressed bytes, as the programs of the table of compressions write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "built_with.h"

namespace loaderscope::source {

std::string pack_by_gzip(std::string_view text);
// Adds a checksum, like zstd(1). The window has 2^`window_log` bytes; 0 means the level's default.
std::string pack_by_zstd(std::string_view text, int window_log);
std::string pack_by_lz4(std::string_view text);  // adds a checksum, like lz4(1)

// Each is null if its library is missing.
inline constexpr auto gzip_bytes = if_built(built_with::kZlib, pack_by_gzip);
inline constexpr auto zstd_window_bytes = if_built(built_with::kZstd, pack_by_zstd);
inline constexpr auto lz4_bytes = if_built(built_with::kLz4, pack_by_lz4);
inline std::string zstd_bytes(std::string_view text) { return zstd_window_bytes(text, 0); }

struct Packing {
  std::string_view row;     // name in compression_table()
  std::string_view ending;  // ending of the name of a shard
  std::string (*pack)(std::string_view text);
};

// The formats that this program is built with.
inline const std::vector<Packing>& packings() {
  static const std::vector<Packing> all = [] {
    std::vector<Packing> built = {
        {"gzip", ".tar.gz", gzip_bytes},
        {"lz4", ".tar.lz4", lz4_bytes},
        {"zstd", ".tar.zst", if_built(built_with::kZstd, zstd_bytes)},
    };
    std::erase_if(built, [](const Packing& packing) { return packing.pack == nullptr; });
    return built;
  }();
  return all;
}

}  // namespace loaderscope::source
