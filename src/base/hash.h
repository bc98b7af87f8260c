// Hashes for checksums and names in caches, and for comparisons within one run. They find damage,
// not malice. mixed() is the hash of draws and of saved digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace loaderscope {

std::uint64_t hash_bytes(std::span<const std::byte> bytes);
std::uint64_t hash_text(std::string_view text);

// Random bits that are the same on every machine and from every standard library. By hand: saved
// results, digests of packed data and seeds rely on these bits. hash_bytes() is
// the hash for all else.

// The finaliser of splitmix64: a bijection in which every bit of the result depends on every bit of
// `x`.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t mixed(std::uint64_t state, std::int64_t value) {
  return mixed(state ^ static_cast<std::uint64_t>(value));
}

// Returns the next value of splitmix64.
constexpr std::uint64_t next_bits(std::uint64_t& state) {
  const std::uint64_t bits = mixed(state);
  state += 0x9e3779b97f4a7c15u;
  return bits;
}

}  // namespace loaderscope
