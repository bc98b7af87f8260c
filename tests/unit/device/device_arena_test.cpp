// Memory for nvJPEG from a fixed block.
#include "device/cuda/device_arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace loaderscope::cuda {
namespace {

constexpr std::size_t kUnit = DeviceArena::kAlignment;

// Addresses as those of a device: the host cannot read them.
class DeviceArenaTest : public testing::Test {
 protected:
  static void* block() { return reinterpret_cast<void*>(std::uintptr_t{0x10000}); }

  DeviceArena arena_{block(), 8 * kUnit};
};

TEST_F(DeviceArenaTest, TakesFirstPieceThatFits) {
  void* first = arena_.take(2 * kUnit);
  void* second = arena_.take(kUnit);
  arena_.take(kUnit);
  EXPECT_EQ(first, block());
  EXPECT_TRUE(arena_.release(first));
  EXPECT_EQ(arena_.take(1), first);  // the hole before the larger rest
  EXPECT_EQ(static_cast<std::byte*>(arena_.take(3 * kUnit)) - static_cast<std::byte*>(second),
            2 * static_cast<std::ptrdiff_t>(kUnit));
}

TEST_F(DeviceArenaTest, JoinsNeighbours) {
  std::vector<void*> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(arena_.take(2 * kUnit));
  for (int i : {0, 2, 3, 1}) EXPECT_TRUE(arena_.release(pieces[static_cast<std::size_t>(i)]));
  EXPECT_EQ(arena_.free_pieces(), 1U);
  EXPECT_EQ(arena_.take(8 * kUnit), block());
}

TEST_F(DeviceArenaTest, CountsPeakAndFailures) {
  void* large = arena_.take(6 * kUnit + 1);
  EXPECT_EQ(arena_.used(), 7 * kUnit);
  EXPECT_EQ(arena_.take(2 * kUnit), nullptr);
  EXPECT_EQ(arena_.take(SIZE_MAX), nullptr);
  EXPECT_TRUE(arena_.release(large));
  EXPECT_EQ(arena_.used(), 0U);
  EXPECT_EQ(arena_.peak(), 7 * kUnit);
  EXPECT_EQ(arena_.failures(), 2);
}

TEST_F(DeviceArenaTest, RejectsUnknownPlaces) {
  void* piece = arena_.take(kUnit);
  EXPECT_FALSE(arena_.release(static_cast<std::byte*>(piece) + 1));
  EXPECT_TRUE(arena_.release(piece));
  EXPECT_FALSE(arena_.release(piece));
  EXPECT_EQ(arena_.used(), 0U);
}

TEST_F(DeviceArenaTest, GivesEmptyPiecesDifferentAddresses) {
  EXPECT_NE(arena_.take(0), arena_.take(0));
}

TEST_F(DeviceArenaTest, AnswersAsAllocatorOfNvjpeg) {
  const nvjpeg::Allocator allocator = arena_.allocator();
  void* place = nullptr;
  EXPECT_EQ(allocator.allocate(allocator.context, &place, kUnit, nullptr), 0);
  EXPECT_EQ(place, block());
  EXPECT_EQ(allocator.release(allocator.context, place, kUnit, nullptr), 0);
  EXPECT_NE(allocator.release(allocator.context, place, kUnit, nullptr), 0);
  EXPECT_EQ(allocator.release(allocator.context, nullptr, 0, nullptr), 0);
  EXPECT_NE(allocator.allocate(allocator.context, &place, 9 * kUnit, nullptr), 0);
  EXPECT_EQ(place, nullptr);
}

TEST(DeviceArena, HoldsNothingWithoutMemory) {
  DeviceArena arena(nullptr, 0);
  EXPECT_EQ(arena.take(1), nullptr);
}

// Random sequences against a list of what is taken.
TEST(DeviceArena, KeepsPiecesApart) {
  constexpr std::size_t kBytes = 256 * kUnit;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    auto* const block = reinterpret_cast<std::byte*>(std::uintptr_t{0x40000});
    DeviceArena arena(block, kBytes + 17);
    std::map<std::byte*, std::size_t> taken;
    std::size_t used = 0;
    for (int i = 0; i < 2'000; ++i) {
      if (random() % 2 == 0 || taken.empty()) {
        const std::size_t size = random() % (24 * kUnit);
        auto* piece = static_cast<std::byte*>(arena.take(size));
        if (piece == nullptr) continue;
        ASSERT_GE(piece, block);
        ASSERT_LE(piece + size, block + kBytes);
        ASSERT_EQ(static_cast<std::size_t>(piece - block) % kUnit, 0U);
        const auto next = taken.lower_bound(piece);
        if (next != taken.end()) {
          ASSERT_LE(piece + size, next->first);
        }
        if (next != taken.begin()) {
          const auto before = std::prev(next);
          ASSERT_LE(before->first + before->second, piece);
        }
        ASSERT_TRUE(taken.emplace(piece, size).second);
        used += std::max<std::size_t>((size + kUnit - 1) / kUnit, 1) * kUnit;
      } else {
        auto chosen = taken.begin();
        std::advance(chosen, random() % taken.size());
        ASSERT_TRUE(arena.release(chosen->first));
        used -= std::max<std::size_t>((chosen->second + kUnit - 1) / kUnit, 1) * kUnit;
        taken.erase(chosen);
      }
      ASSERT_EQ(arena.used(), used);
    }
    for (const auto& [piece, size] : taken) ASSERT_TRUE(arena.release(piece));
    EXPECT_EQ(arena.used(), 0U);
    EXPECT_EQ(arena.free_pieces(), 1U);
    EXPECT_EQ(arena.take(kBytes), block);
  }
}

}  // namespace
}  // namespace loaderscope::cuda
