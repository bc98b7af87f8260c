// Hashes for checksums and names in caches, and for comparisons within one run. They find damage,
// not malice. mixed.h has the hash of draws and of saved digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace loaderscope {

std::uint64_t hash_bytes(std::span<const std::byte> bytes);
std::uint64_t hash_text(std::string_view text);

}  // namespace loaderscope
