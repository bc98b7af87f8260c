#include "loaderscope/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/distribution.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;
using Shape = Distribution::Shape;

std::string error_of_cost(const std::string& text) {
  try {
    parse_cost(text);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

// The mean of draws at evenly spaced quantiles, which converges much faster than random ones.
double mean_draw(const Cost& cost, Bytes bytes = 0) {
  constexpr int kDraws = 200'000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += static_cast<double>(cost.draw((i + 0.5) / kDraws, bytes));
  return sum / kDraws;
}

TEST(Cost, ParsesOneDuration) {
  const Cost cost = parse_cost("decode=8ms");
  EXPECT_EQ(cost.stage, Stage::decode);
  EXPECT_EQ(cost.kind, CostKind::cpu);
  EXPECT_EQ(cost.text, "decode=8ms");
  EXPECT_TRUE(cost.is_fixed());
  EXPECT_EQ(cost.draw(0.3, 12345), 8'000'000);
}

TEST(Cost, ChoosesKindByStage) {
  for (const char* text : {"read=1ms", "h2d=1ms", "startup=1s", "decode=1ms:sleep"}) {
    EXPECT_EQ(parse_cost(text).kind, CostKind::sleep) << text;
  }
  for (const char* text : {"decode=1ms", "read.decompress=1ms", "collate=1ms", "transport.recv=1ms",
                           "startup.parent=1ms", "read=1ms:cpu", "read=lognormal:8ms:0.5:cpu"}) {
    EXPECT_EQ(parse_cost(text).kind, CostKind::cpu) << text;
  }
}

TEST(Cost, RoundsRatesUpExactly) {
  EXPECT_EQ(parse_cost("h2d=8GB/s").draw(0.5, 38'535'168), 4'816'896);
  EXPECT_EQ(parse_cost("read=100MB/s").draw(0.5, 50'000'000), 500'000'000);
  EXPECT_EQ(parse_cost("read=3B/s").draw(0.5, 1), 333'333'334);
  EXPECT_EQ(parse_cost("read=1GB/s").draw(0.5, 0), 0);
  EXPECT_EQ(parse_cost("read=0.5B/s").draw(0.5, 3), 6 * kSecond);
  EXPECT_EQ(parse_cost("read=8GB/s").draw(0.5, Bytes{1} << 50), (Bytes{1} << 50) / 8);
  EXPECT_EQ(parse_cost("read=0.000001B/s").draw(0.5, Bytes{1} << 60), kMaxCost);
}

TEST(Cost, DrawsLognormalWithMeanAndSigma) {
  const Cost cost = parse_cost("read=lognormal:8ms:0.5");
  EXPECT_EQ(cost.amount.shape, Shape::lognormal);
  EXPECT_NEAR(mean_draw(cost), 8e6, 8e6 * 1e-3);
  const double median = static_cast<double>(cost.draw(0.5, 0));
  EXPECT_NEAR(std::log(8e6 / median), 0.125, 1e-6);
}

TEST(Cost, DrawsLognormalWithNinetyNinthPercentile) {
  for (const char* text : {"decode=8ms:p99=40ms", "decode=lognormal:8ms:p99=40ms"}) {
    const Cost cost = parse_cost(text);
    EXPECT_NEAR(static_cast<double>(cost.draw(0.99, 0)), 40e6, 2) << text;
    EXPECT_NEAR(mean_draw(cost), 8e6, 8e6 * 2e-3) << text;
  }
}

TEST(Cost, DrawsOtherShapesWithMean) {
  EXPECT_NEAR(mean_draw(parse_cost("read=exponential:8ms")), 8e6, 8e6 * 1e-3);
  const Cost uniform = parse_cost("read=uniform:4ms:12ms");
  EXPECT_NEAR(mean_draw(uniform), 8e6, 10);
  EXPECT_NEAR(static_cast<double>(uniform.draw(1e-12, 0)), 4e6, 1);
  EXPECT_NEAR(static_cast<double>(uniform.draw(1 - 1e-12, 0)), 12e6, 1);
}

TEST(Cost, SpreadsTimeByDistributedRate) {
  const Cost cost = parse_cost("read=lognormal:100MB/s:0.5");
  EXPECT_TRUE(cost.is_rate);
  EXPECT_NEAR(mean_draw(cost, 1'000'000), 10e6, 10e6 * 1e-3);
  const Cost tail = parse_cost("read=100MB/s:p99=25MB/s");
  EXPECT_NEAR(static_cast<double>(tail.draw(0.99, 1'000'000)), 40e6, 2);
}

TEST(Cost, DrawsAreNeverNegativeAndSaturate) {
  for (const char* text :
       {"read=lognormal:8ms:10", "read=exponential:8ms", "read=exponential:700h"}) {
    const Cost cost = parse_cost(text);
    for (double u : {0x1p-53, 0.5, 1 - 0x1p-53}) {
      EXPECT_GE(cost.draw(u, 0), 0) << text;
      EXPECT_LE(cost.draw(u, 0), kMaxCost) << text;
    }
  }
}

TEST(Cost, RefusesWhatItDoesNotMean) {
  for (const char* text : {"",
                           "decode",
                           "decode=",
                           "=8ms",
                           "decode=8",
                           "decode=-8ms",
                           "decode=nan",
                           "decode=8ms,9ms",
                           "decode=8ms:gpu",
                           "decode=8ms:cpu:sleep",
                           "decode=normal:8ms:1ms",
                           "decode=lognormal:8ms",
                           "decode=lognormal:8ms:0",
                           "decode=lognormal:0:0.5",
                           "decode=lognormal:8ms:11",
                           "decode=8ms:p99=8ms",
                           "decode=8ms:p99=120ms",
                           "decode=uniform:12ms:4ms",
                           "decode=uniform:4ms",
                           "decode=exponential:0",
                           "decode=exponential:8ms:p99=9ms",
                           "decode=8ms:9ms",
                           "startup=1MB/s",
                           "read=100MB/s:p99=200MB/s",
                           "decode=721h",
                           "decode=uniform:1ms:721h",
                           "compute=8ms",
                           "idle=8ms",
                           "opaque=1ms",
                           "DECODE=8ms"}) {
    EXPECT_THROW(parse_cost(text), ValueError) << text;
  }
  EXPECT_THAT(error_of_cost("deocde=8ms"), HasSubstr("did you mean 'decode'?"));
  EXPECT_THAT(error_of_cost("compute=8ms"), HasSubstr("--compute"));
  EXPECT_THAT(error_of_cost("decode=8"), HasSubstr("did you forget the unit?"));
  EXPECT_THAT(error_of_cost("decode=lognornal:8ms:0.5"), HasSubstr("did you mean 'lognormal'?"));
}

TEST(Injection, ReadsItsOptions) {
  const Injection plain = parse_injection("compute=+150ms");
  EXPECT_EQ(plain.stage, Stage::compute);
  EXPECT_EQ(plain.extra, 150'000'000);
  EXPECT_EQ(plain.probability, 1);
  EXPECT_EQ(plain.every, 1);
  EXPECT_FALSE(plain.rank || plain.worker);
  const Injection all = parse_injection("decode=+1ms@p=0.01@every=100@rank=1@worker=0");
  EXPECT_EQ(all.probability, 0.01);
  EXPECT_EQ(all.every, 100);
  EXPECT_EQ(all.rank, 1);
  EXPECT_EQ(all.worker, 0);
}

TEST(Injection, RefusesWhatItDoesNotMean) {
  for (const char* text :
       {"", "decode=150ms", "decode=+150", "decode=+", "decode=+1ms@", "decode=+1ms@p=0",
        "decode=+1ms@p=1.1", "decode=+1ms@every=0", "decode=+1ms@q=3", "idle=+1ms",
        "decode=+1ms@p=0.1@p=0.2", "decode=+1ms@rank=-1", "decode=+-1ms"}) {
    EXPECT_THROW(parse_injection(text), ValueError) << text;
  }
}

TEST(Distribution, ReadsOwnTextBack) {
  const auto value = [](std::string_view text) {
    return static_cast<double>(parse_duration(text));
  };
  const auto spell = [](double ns) { return duration_to_text(std::llround(ns)); };
  for (const char* text :
       {"0", "12ms", "lognormal:8ms:0.5", "lognormal:8ms:p99=40ms", "exponential:1us",
        "uniform:4ms:12ms", "uniform:0:1ns", "uniform:3ns:10ns"}) {
    const Distribution first = parse_distribution(text, value);
    const Distribution second = parse_distribution(distribution_to_text(first, spell), value);
    EXPECT_EQ(first.shape, second.shape) << text;
    EXPECT_EQ(first.mean, second.mean) << text;
    EXPECT_EQ(first.spread, second.spread) << text;
  }
}

TEST(InverseNormal, AgreesWithTheErrorFunction) {
  EXPECT_EQ(inverse_normal(0.5), 0);
  EXPECT_NEAR(inverse_normal(0.99), 2.3263478740408408, 1e-15);
  EXPECT_NEAR(inverse_normal(1e-10), -6.361340902404056, 1e-13);
  for (double u = 1e-300; u < 1; u = u < 0.01 ? u * 10 : u + 0.001) {
    const double z = inverse_normal(u);
    EXPECT_NEAR(0.5 * std::erfc(-z / std::sqrt(2)) / u, 1, 1e-12) << u;
  }
}

TEST(UniformDraw, DependsOnEverything) {
  const double base = uniform_draw(1, 2, 3, Stage::read, 4);
  EXPECT_EQ(base, uniform_draw(1, 2, 3, Stage::read, 4));
  EXPECT_NE(base, uniform_draw(2, 2, 3, Stage::read, 4));
  EXPECT_NE(base, uniform_draw(1, 3, 3, Stage::read, 4));
  EXPECT_NE(base, uniform_draw(1, 2, 4, Stage::read, 4));
  EXPECT_NE(base, uniform_draw(1, 2, 3, Stage::decode, 4));
  EXPECT_NE(base, uniform_draw(1, 2, 3, Stage::read, 5));
  EXPECT_NE(uniform_draw(0, 1, 0, Stage::read), uniform_draw(0, 0, 1, Stage::read));
}

TEST(UniformDraw, GivesUniformAndUncorrelatedValues) {
  constexpr int kDraws = 100'000;
  std::vector<int> bins(100);
  double sum = 0, product = 0, before = 0.5;
  for (int i = 0; i < kDraws; ++i) {
    const double u = uniform_draw(0, 0, i, Stage::decode);
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    product += (u - 0.5) * (before - 0.5);
    before = u;
    ++bins[static_cast<std::size_t>(u * 100)];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.004);
  EXPECT_NEAR(product / kDraws * 12, 0, 0.013);
  const double expected = kDraws / 100.0;
  const double chi2 = std::accumulate(bins.begin(), bins.end(), 0.0, [&](double total, int count) {
    return total + (count - expected) * (count - expected) / expected;
  });
  EXPECT_LT(chi2, 170);  // 99 degrees of freedom
}

TEST(Shuffle, VisitsEachIndexOnce) {
  for (std::int64_t n : {1, 2, 3, 5, 16, 17, 255, 1000, 4097}) {
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = shuffled_index(i, n, 7, 0);
      ASSERT_GE(at, 0);
      ASSERT_LT(at, n);
      ASSERT_FALSE(seen[static_cast<std::size_t>(at)]) << n;
      seen[static_cast<std::size_t>(at)] = true;
    }
  }
}

TEST(Shuffle, DiffersByEpochAndSeedAndLeavesFewInPlace) {
  constexpr std::int64_t kSamples = 10'000;
  int same_epoch = 0, same_seed = 0, in_place = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::int64_t at = shuffled_index(i, kSamples, 0, 0);
    same_epoch += at == shuffled_index(i, kSamples, 0, 1);
    same_seed += at == shuffled_index(i, kSamples, 1, 0);
    in_place += at == i;
  }
  for (int count : {same_epoch, same_seed, in_place}) EXPECT_LT(count, 12);  // 1 expected
}

TEST(Shuffle, GivesBothOrdersOfTwoEquallyOften) {
  int swapped = 0;
  for (std::int64_t epoch = 0; epoch < 1000; ++epoch)
    swapped += shuffled_index(0, 2, 0, epoch) == 1;
  EXPECT_NEAR(swapped, 500, 80);
}

TEST(Shuffle, StaysInRangeOfHugeDataSets) {
  const std::int64_t n = std::int64_t{1} << 62;
  for (std::int64_t i : {std::int64_t{0}, n / 3, n - 1}) {
    EXPECT_LT(shuffled_index(i, n, 0, 0), n);
    EXPECT_GE(shuffled_index(i, n - 1 - i % 2, 0, 0), 0);
  }
}

}  // namespace
}  // namespace loaderscope
