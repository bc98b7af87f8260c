// The room of mixed slots: each sample has a place, and no two overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "engine/native/slot_room.h"

namespace loaderscope::native {
namespace {

constexpr Bytes kCrop = 640, kTable = 1'024;

BatchLayout small_layout(Bytes data) {
  BatchLayout layout;
  layout.table_bytes = kTable;
  layout.crop_bytes = kCrop;
  layout.slot_bytes = kTable + data;
  return layout;
}

TEST(SlotRoom, KeepsCropForEachSampleThatFollows) {
  const BatchLayout layout = small_layout(4 * kCrop);
  SlotRoom room;
  room.clear(4);
  EXPECT_EQ(room.take(2 * kCrop, layout), std::nullopt);  // the last sample would have no room
  EXPECT_EQ(room.take(100, layout), kTable);
  EXPECT_EQ(room.used(), 128);
  EXPECT_EQ(room.take(kCrop + 512, layout), kTable + 128);  // the room that the first left
  EXPECT_EQ(room.take(kCrop + 64, layout), std::nullopt);
  EXPECT_EQ(room.take(kCrop, layout), kTable + 128 + kCrop + 512);
  EXPECT_EQ(room.take(kCrop, layout), kTable + 128 + 2 * kCrop + 512);
  EXPECT_EQ(room.take(1, layout), std::nullopt);  // all samples have a place
  room.clear(1);
  EXPECT_EQ(room.take(4 * kCrop, layout), kTable);
}

TEST(SlotRoom, GivesPlacesToThreadsThatDoNotOverlap) {
  constexpr std::int64_t kSamples = 400;
  constexpr int kThreads = 4;
  const BatchLayout layout =
      mixed_layout(kSamples, 16, kCrop, {.mean = 3 * kCrop, .largest = 20 * kCrop});
  SlotRoom room;
  room.clear(kSamples);
  std::vector<std::vector<std::pair<Bytes, Bytes>>> taken(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (std::int64_t i = 0; i < kSamples / kThreads; ++i) {
        Bytes bytes = 1 + static_cast<Bytes>(random() % (12 * kCrop));
        std::optional<Bytes> offset = room.take(bytes, layout);
        if (!offset) {
          bytes = kCrop;
          offset = room.take(bytes, layout);
        }
        ASSERT_TRUE(offset);
        taken[t].emplace_back(*offset, *offset + bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::pair<Bytes, Bytes>> all;
  for (const auto& part : taken) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kSamples));
  EXPECT_GE(all.front().first, layout.table_bytes);
  EXPECT_LE(all.back().second, layout.slot_bytes);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i - 1].second, all[i].first);
}

}  // namespace
}  // namespace loaderscope::native
