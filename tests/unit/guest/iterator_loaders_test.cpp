#include "guest/host/training_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "guest/protocol/page.h"

namespace loaderscope::guest {
namespace {

LoaderFacts loader(std::int32_t number, std::int64_t workers = 0) {
  LoaderFacts facts;
  facts.number = number;
  facts.num_workers = workers;
  return facts;
}

std::int32_t loader_number(const IteratorLoaders& loaders, std::int32_t iterator) {
  const LoaderFacts* facts = loaders.find(iterator);
  return facts == nullptr ? -1 : facts->number;
}

TEST(IteratorLoaders, FindsOnlyReportedIterators) {
  IteratorLoaders loaders;
  EXPECT_EQ(loaders.find(0), nullptr);
  EXPECT_EQ(loaders.find(-1), nullptr);
  loaders.add(-1, loader(0));
  EXPECT_EQ(loaders.find(-1), nullptr);
  loaders.add(2, loader(5));
  EXPECT_EQ(loader_number(loaders, 1), -1);
  EXPECT_EQ(loader_number(loaders, 2), 5);
  EXPECT_EQ(loader_number(loaders, 3), -1);
  EXPECT_FALSE(loaders.has_forgotten(1));
}

TEST(IteratorLoaders, TakesIteratorsInAnyOrder) {
  const std::vector<std::int32_t> numbers = {0, 0, 1, 0, 2, 2, 1, 0};
  for (const auto& order : {std::vector<std::int32_t>{7, 6, 5, 4, 3, 2, 1, 0},
                            {0, 1, 2, 3, 4, 5, 6, 7},
                            {3, 0, 5, 7, 6, 1, 4, 2}}) {
    IteratorLoaders loaders;
    std::vector<std::int32_t> expected(numbers.size(), -1);
    for (const std::int32_t iterator : order) {
      const auto place = static_cast<std::size_t>(iterator);
      loaders.add(iterator, loader(numbers[place]));
      expected[place] = numbers[place];
      for (std::size_t other = 0; other < numbers.size(); ++other)
        EXPECT_EQ(loader_number(loaders, static_cast<std::int32_t>(other)), expected[other]);
    }
  }
}

TEST(IteratorLoaders, KeepsTheFirstFactsOfAnIterator) {
  IteratorLoaders loaders;
  loaders.add(0, loader(0, 1));
  loaders.add(1, loader(0, 4));
  loaders.add(0, loader(0, 9));
  EXPECT_EQ(loaders.find(0)->num_workers, 1);
  EXPECT_EQ(loaders.find(1)->num_workers, 4);
}

TEST(IteratorLoaders, ForgetsThoseBetweenTheFirstAndTheLast) {
  IteratorLoaders loaders;
  constexpr std::int32_t kMany = 400'000;
  for (std::int32_t iterator = 0; iterator < kMany; ++iterator)
    loaders.add(iterator, loader(iterator % 2));
  for (const std::int32_t kept : {0, 1, 1000, kMany - 10'000, kMany - 1})
    EXPECT_EQ(loader_number(loaders, kept), kept % 2);
  EXPECT_TRUE(loaders.has_forgotten(kMany / 2));
  EXPECT_FALSE(loaders.has_forgotten(kMany));
  loaders.add(kMany / 2, loader(0));
  EXPECT_TRUE(loaders.has_forgotten(kMany / 2));
}

TEST(PackedBatch, ReturnsNumberNearestToGivenBatch) {
  Span span;
  constexpr std::int64_t kMany = std::int64_t{1} << 33;
  for (std::int64_t batch = 0; batch < kMany; batch += 77'777'777) {
    const auto generation = static_cast<std::int32_t>(batch >> 4);
    span.batch = packed_batch(123'456'789, generation, batch);
    EXPECT_EQ(span_iterator(span), 123'456'789);
    for (const std::int64_t away : {-1000, 0, 1, 1000}) {
      EXPECT_EQ(span_batch(span, std::max<std::int64_t>(batch + away, 0)), batch);
      EXPECT_EQ(span_generation(span, std::max(generation + static_cast<std::int32_t>(away), 0)),
                generation);
    }
  }
}

}  // namespace
}  // namespace loaderscope::guest
