#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/run_record.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

Nanos exact_quantile(const std::vector<Nanos>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

constexpr double kQuantiles[] = {0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1};

// In whatever order they come: shorter ones after longer ones, and merged.
TEST(Histogram, CountsEachValueInItsBucketWhateverCameBefore) {
  const std::vector<Nanos> values = {5'000'000, 90, 7'000'000'000, 0, 5'000'001, 300, 90, 1};
  Histogram whole, first, second, none;
  for (std::size_t i = 0; i < values.size(); ++i) {
    whole.add(values[i]);
    (i % 3 == 0 ? first : second).add(values[i]);
  }
  for (Histogram* half : {&first, &second}) half->merge(none);
  Histogram one = first, other = second;
  one.merge(second);
  other.merge(first);
  none.merge(whole);
  EXPECT_EQ(one.buckets(), whole.buckets());
  EXPECT_EQ(other.buckets(), whole.buckets());
  EXPECT_EQ(none.buckets(), whole.buckets());
  const std::vector<Histogram::Bucket> expected = {{0, 1, 0}, {1, 1, 1}, {90, 2, 180}};
  const std::vector<Histogram::Bucket> buckets = whole.buckets();
  ASSERT_EQ(buckets.size(), 6u);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), buckets.begin()));
  EXPECT_EQ(buckets[4].count, 2);
  EXPECT_EQ(buckets[4].sum, 10'000'001);
  EXPECT_EQ(Histogram::from_buckets(buckets, whole.max()).buckets(), buckets);
  EXPECT_EQ(Histogram::from_buckets({}, 0).buckets(), Histogram().buckets());
}

TEST(Histogram, KeepsQuantilesWithinErrorBound) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const double spread = dice.pick({0.1, 3.0, 12.0, 40.0});  // range of ln(value)
    Histogram histogram;
    std::vector<Nanos> values;
    const std::int64_t count = dice.between(1, 4000);
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(static_cast<Nanos>(std::exp(dice.unit() * spread)));
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    EXPECT_EQ(histogram.count(), count);
    EXPECT_EQ(histogram.max(), values.back());
    for (const double q : kQuantiles) {
      const auto expected = static_cast<double>(exact_quantile(values, q));
      ASSERT_NEAR(static_cast<double>(histogram.quantile(q)), expected, 0.008 * expected)
          << "seed " << seed << " " << q;
    }
  }
}

TEST(Histogram, ReturnsExactQuantilesOfConstantsAndSmallValues) {
  for (const Nanos value :
       {Nanos{0}, Nanos{1}, Nanos{127}, Nanos{128}, Nanos{129}, Nanos{8'000'001}, Nanos{1} << 62}) {
    Histogram histogram;
    histogram.add(value);
    for (const double q : kQuantiles) EXPECT_EQ(histogram.quantile(q), value);
  }
  Histogram histogram;
  histogram.add(12'345'678, 1000);
  histogram.add(1, 500);
  EXPECT_EQ(histogram.quantile(0.5), 12'345'678);
  EXPECT_EQ(histogram.quantile(0.333), 1);
}

TEST(Histogram, ReturnsZeroIfEmpty) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_TRUE(histogram.buckets().empty());
}

void expect_same(const Histogram& a, const Histogram& b) {
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.max(), b.max());
  const auto left = a.buckets(), right = b.buckets();
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].index, right[i].index);
    EXPECT_EQ(left[i].count, right[i].count);
    EXPECT_EQ(left[i].sum, right[i].sum);
  }
  for (const double q : kQuantiles) EXPECT_EQ(a.quantile(q), b.quantile(q));
}

TEST(Histogram, RestoresItselfFromBuckets) {
  Dice dice(1);
  Histogram histogram;
  for (int i = 0; i < 1000; ++i)
    histogram.add(static_cast<Nanos>(std::exp(dice.unit() * 40)), dice.between(1, 3));
  expect_same(Histogram::from_buckets(histogram.buckets(), histogram.max()), histogram);
  expect_same(Histogram::from_buckets({}, 0), Histogram());
}

TEST(Histogram, MergesLikeAddingAllValues) {
  Dice dice(2);
  Histogram a, b, both;
  for (int i = 0; i < 500; ++i) {
    const auto small = static_cast<Nanos>(std::exp(dice.unit() * 10)), large = small * 1000;
    a.add(small);
    b.add(large);
    both.add(small);
    both.add(large);
  }
  Histogram merged = a;
  merged.merge(b);
  expect_same(merged, both);
  b.merge(a);
  expect_same(b, both);
}

TEST(Histogram, RefusesASumThatDoesNotFit) {
  Histogram histogram;
  histogram.add(Nanos{1} << 62);
  EXPECT_THROW(histogram.add(Nanos{1} << 62), RunError);
  Histogram other;
  EXPECT_THROW(other.add(Nanos{1} << 40, std::int64_t{1} << 40), RunError);
  StageStats stats;
  stats.add(Nanos{1} << 62, 0, 0, 0);
  EXPECT_THROW(stats.add(Nanos{1} << 62, 0, 0, 0), RunError);
}

}  // namespace
}  // namespace loaderscope
