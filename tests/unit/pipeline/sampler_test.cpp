// The order of samples: every sample once, the same for all engines, split as PyTorch splits it.
#include "engine/pipeline/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "loaderscope/cost.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using testing::ElementsAre;
using Samples = std::vector<std::int64_t>;

Samples rank_samples(const Sampler& sampler, std::int64_t rank, std::int64_t epoch = 0) {
  Samples samples;
  for (std::int64_t i = 0; i < sampler.samples_per_rank(); ++i) {
    samples.push_back(sampler.at(rank, epoch, i));
  }
  return samples;
}

std::vector<SamplerOptions> kinds(std::int64_t samples) {
  std::vector<SamplerOptions> all(4);
  for (SamplerOptions& options : all) options.samples = samples;
  all[1].shuffle = all[2].shuffle = all[3].shuffle = true;
  all[2].shuffle_buffer = 16;
  all[3].shuffle_buffer = 1'000'000;
  return all;
}

TEST(Sampler, PadsAsTorchDoes) {
  SamplerOptions options;
  options.samples = 10;
  options.ranks = 4;
  const Sampler padded(options);
  EXPECT_THAT(rank_samples(padded, 0), ElementsAre(0, 4, 8));
  EXPECT_THAT(rank_samples(padded, 1), ElementsAre(1, 5, 9));
  EXPECT_THAT(rank_samples(padded, 2), ElementsAre(2, 6, 0));
  EXPECT_THAT(rank_samples(padded, 3), ElementsAre(3, 7, 1));
  options.drop_uneven = true;
  EXPECT_THAT(rank_samples(Sampler(options), 3), ElementsAre(3, 7));
}

TEST(Sampler, RepeatsSamplesForExtraRanks) {
  SamplerOptions options;
  options.samples = 2;
  options.ranks = 5;
  for (std::int64_t rank = 0; rank < 5; ++rank) {
    EXPECT_THAT(rank_samples(Sampler(options), rank), ElementsAre(rank % 2));
  }
  options.drop_uneven = true;
  EXPECT_THROW(Sampler{options}, UsageError);
}

TEST(Sampler, CoversEverySampleOnceExceptForPadding) {
  for (const std::int64_t samples : {1, 2, 15, 16, 17, 1000}) {
    for (SamplerOptions options : kinds(samples)) {
      for (const std::int64_t ranks : {1, 3, 8}) {
        options.ranks = ranks;
        const Sampler sampler(options);
        std::map<std::int64_t, int> times;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          for (const std::int64_t sample : rank_samples(sampler, rank, 2)) ++times[sample];
        }
        ASSERT_EQ(static_cast<std::int64_t>(times.size()), samples);
        std::int64_t extra = 0;
        for (const auto& [sample, count] : times) extra += count - 1;
        EXPECT_EQ(extra, sampler.samples_per_rank() * ranks - samples);
        EXPECT_TRUE(times.begin()->first == 0 && times.rbegin()->first == samples - 1);
      }
    }
  }
}

TEST(Sampler, VariesByEpochAndSeedAndRepeats) {
  for (const SamplerOptions& options : kinds(1000)) {
    if (!options.shuffle) continue;
    const Sampler sampler(options);
    const Samples first = rank_samples(sampler, 0, 0), second = rank_samples(sampler, 0, 1);
    EXPECT_NE(first, second);
    rank_samples(sampler, 0, 2);
    EXPECT_EQ(rank_samples(sampler, 0, 0), first);
    EXPECT_EQ(rank_samples(Sampler(options), 0, 1), second);
    SamplerOptions other = options;
    other.seed = 1;
    EXPECT_NE(rank_samples(Sampler(other), 0, 0), first);
  }
}

TEST(Sampler, KeepsOrderOfDataSetWithoutShuffle) {
  Samples all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(rank_samples(Sampler(kinds(1000)[0]), 0, 3), all);
}

TEST(Sampler, LimitsEarlySamplesToBuffer) {
  SamplerOptions options = kinds(10'000)[2];
  const Samples order = rank_samples(Sampler(options), 0);
  double late = 0;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    const std::int64_t sample = order[static_cast<std::size_t>(i)];
    EXPECT_LT(sample, i + options.shuffle_buffer);
    late += static_cast<double>(std::abs(sample - i)) / 10'000;
  }
  EXPECT_GT(late, 4);  // a buffer of 16 moves samples by about 16 places
  EXPECT_LT(late, 32);
  options.shuffle_buffer = 1;
  EXPECT_TRUE(std::ranges::is_sorted(rank_samples(Sampler(options), 0)));
}

TEST(Sampler, UsesShuffledIndexForFullShuffle) {
  SamplerOptions options = kinds(1000)[1];
  options.seed = 5;
  EXPECT_EQ(Sampler(options).at(0, 7, 3), shuffled_index(3, 1000, 5, 7));
}

TEST(Sampler, SupportsHugeAndEndlessDataSets) {
  SamplerOptions options;
  options.samples = 1'000'000'000'000'000;
  options.ranks = 1000;
  options.shuffle = true;
  const Sampler huge(options);
  EXPECT_EQ(huge.samples_per_rank(), 1'000'000'000'000);
  const std::int64_t last = huge.at(999, 0, huge.samples_per_rank() - 1);
  EXPECT_TRUE(last >= 0 && last < options.samples);
  options.samples = 0;
  EXPECT_EQ(Sampler(options).samples_per_rank(), 0);
  EXPECT_EQ(Sampler(options).at(3, 0, 5), 5003);
  options.shuffle_buffer = 10;
  EXPECT_THROW(Sampler{options}, UsageError);
  options.samples = 5'000'000'000;
  EXPECT_THROW(Sampler{options}, UsageError);
}

}  // namespace
}  // namespace loaderscope
