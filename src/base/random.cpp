// The draws and the order of a run, all functions of its seed.
#include <bit>
#include <cstdint>

#include "base/hash.h"
#include "loaderscope/cost.h"

namespace loaderscope {
namespace {

constexpr int kRounds = 8;

// A Feistel network over 2 x half_bits bits: a bijection whatever the round function is.
std::uint64_t permuted(std::uint64_t x, int half_bits, std::uint64_t key) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = x >> half_bits, right = x & mask;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t next =
        left ^ (mixed(mixed(key, round), static_cast<std::int64_t>(right)) & mask);
    left = right;
    right = next;
  }
  return (left << half_bits) | right;
}

}  // namespace

double uniform_draw(std::uint64_t seed, std::int64_t epoch, std::int64_t index, Stage stage,
                    std::uint32_t salt) {
  const auto stream = static_cast<std::int64_t>((std::uint64_t{salt} << 8) | index_of(stage));
  const std::uint64_t bits = mixed(mixed(mixed(mixed(seed), stream), epoch), index);
  // 52 bits and a half: never 0, and never rounded up to 1.
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

std::int64_t shuffled_index(std::int64_t i, std::int64_t n, std::uint64_t seed,
                            std::int64_t epoch) {
  if (n <= 1) return 0;
  const auto size = static_cast<std::uint64_t>(n);
  const int half_bits = (static_cast<int>(std::bit_width(size - 1)) + 1) / 2;
  const std::uint64_t key = mixed(mixed(~seed), epoch);
  auto x = static_cast<std::uint64_t>(i);
  // The network permutes up to 4 n numbers. Walking on from those beyond n permutes [0, n).
  do {
    x = permuted(x, half_bits, key);
  } while (x >= size);
  return static_cast<std::int64_t>(x);
}

}  // namespace loaderscope
