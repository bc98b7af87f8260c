#include "record/kept_details.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace loaderscope {
namespace {

void offer(SampleReservoir& reservoir, std::int64_t count) {
  for (std::int64_t sample = 0; sample < count; ++sample) {
    if (!reservoir.wants_next()) continue;
    SampleRow row;
    row.sample = sample;
    reservoir.keep(row);
  }
}

std::vector<std::int64_t> kept(std::int64_t capacity, std::int64_t count, std::uint64_t seed) {
  SampleReservoir reservoir(capacity, seed);
  offer(reservoir, count);
  EXPECT_EQ(reservoir.seen(), count);
  std::vector<std::int64_t> samples;
  for (const SampleRow& row : reservoir.take()) samples.push_back(row.sample);
  return samples;
}

TEST(SampleReservoir, KeepsAllThatFits) {
  EXPECT_TRUE(kept(0, 100, 1).empty());
  EXPECT_TRUE(kept(5, 0, 1).empty());
  EXPECT_EQ(kept(5, 3, 1), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(kept(5, 5, 1), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(SampleReservoir, KeepsNoSampleTwice) {
  const std::vector<std::int64_t> samples = kept(1000, 20'000, 3);
  EXPECT_EQ(samples.size(), 1000u);
  EXPECT_EQ(std::set<std::int64_t>(samples.begin(), samples.end()).size(), 1000u);
}

// Every sample is kept equally often over many seeds. Without replacement the counts vary less than
// independent ones, by 1 - capacity / count.
void expect_uniform(std::int64_t capacity, std::int64_t count, std::int64_t seeds) {
  std::vector<std::int64_t> times(static_cast<std::size_t>(count));
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    for (const std::int64_t sample : kept(capacity, count, static_cast<std::uint64_t>(seed))) {
      ++times[static_cast<std::size_t>(sample)];
    }
  }
  const double probability = static_cast<double>(capacity) / static_cast<double>(count);
  const double expected = probability * static_cast<double>(seeds);
  double chi_square = 0;
  for (const std::int64_t n : times) {
    const double off = static_cast<double>(n) - expected;
    chi_square += off * off / (expected * (1 - probability));
  }
  const auto freedom = static_cast<double>(count - 1);
  EXPECT_NEAR(chi_square, freedom, 4 * std::sqrt(2 * freedom)) << capacity << " of " << count;
}

TEST(SampleReservoir, KeepsSamplesUniformly) {
  expect_uniform(1, 100, 20'000);
  expect_uniform(50, 1000, 3000);
  expect_uniform(90, 100, 3000);
}

TEST(SampleReservoir, BeginsAgain) {
  SampleReservoir reservoir(10, 4);
  offer(reservoir, 500);
  reservoir.restart();
  offer(reservoir, 7);
  EXPECT_EQ(reservoir.seen(), 7);
  const std::vector<SampleRow> rows = reservoir.take();
  ASSERT_EQ(rows.size(), 7u);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i].sample, static_cast<std::int64_t>(i));
}

}  // namespace
}  // namespace loaderscope
