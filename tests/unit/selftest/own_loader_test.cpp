// Delays that the self-test tries on a loader of the user.
#include "experiment/selftest/pipelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope::selftest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const MachineLimits kLimits{2};

RunConfig given() {
  RunConfig config;
  config.program.loader.set("x.py:f");
  return config;
}

// 8 steps of `batch` samples, 10 ms each, in which every sample is decoded and one is read.
RunRecord made_run(const RunConfig& config, std::int64_t batch, std::int64_t workers) {
  RunRecord record;
  record.config = config;
  record.config.loader.num_workers.value = workers;
  RankRecord& rank = record.ranks.emplace_back();
  for (std::int64_t step = 0; step < 8; ++step) {
    rank.window_end += 10 * kMillisecond;
    StepRow row;
    row.step = step;
    rank.rows.push_back(row);
  }
  rank.samples = 8 * batch;
  for (std::int64_t i = 0; i < rank.samples; ++i) rank.stages[Stage::decode].add(1000, 0, 0, 0);
  for (int i = 0; i < 8; ++i) rank.stages[Stage::collate].add(1000, 0, 0, 0);
  rank.stages[Stage::read].add(1000, 0, 0, 0);
  return record;
}

std::vector<Stage> delayed_stages(const Trial& trial) {
  std::vector<Stage> stages;
  for (const Delay& delay : trial.delays) stages.push_back(delay.stage);
  return stages;
}

TEST(OwnLoader, TriesStagesOfEverySampleOrBatch) {
  const OwnLoader own = try_loader(given(), kLimits, [](const RunConfig& config) {
    EXPECT_EQ(config.loader.batch_size, 4);
    return made_run(config, 4, 3);
  });
  EXPECT_THAT(delayed_stages(own.trial),
              ElementsAre(Stage::decode, Stage::collate, Stage::h2d, Stage::launch));
  EXPECT_THAT(own.notes, ElementsAre(HasSubstr("read is not tried: not every sample has it")));
  EXPECT_EQ(own.trial.base.loader.num_workers, 1);
  EXPECT_EQ(own.trial.base.loader.prefetch_factor, 1);
  for (const Delay& delay : own.trial.delays) {
    EXPECT_EQ(delay.per_step, 40 * kMillisecond);
    ASSERT_EQ(delay.config.declared.inject.value.size(), 1u);
    const bool per_sample = delay.stage == Stage::decode;
    EXPECT_EQ(delay.config.declared.inject.value[0].extra, (per_sample ? 10 : 40) * kMillisecond);
  }
}

TEST(OwnLoader, AcceptsLoaderThatDecidesBatchSize) {
  const OwnLoader own = try_loader(given(), kLimits, [](const RunConfig& config) {
    if (config.loader.batch_size.given) throw RunError("batch-size: the loader decides it");
    return made_run(config, 16, 0);
  });
  EXPECT_FALSE(own.trial.base.loader.batch_size.given);
  EXPECT_FALSE(own.trial.base.loader.num_workers.given);
  EXPECT_EQ(own.trial.delays.front().config.declared.inject.value[0].extra, 2500 * kMicrosecond);
}

TEST(OwnLoader, SaysWhatIsWrongWithIt) {
  const auto fails = [](const RunConfig&) -> RunRecord { throw RunError("no such file"); };
  EXPECT_THROW(try_loader(given(), kLimits, fails), RunError);
  const auto empty = [](const RunConfig& config) {
    RunRecord record;
    record.config = config;
    return record;
  };
  EXPECT_THROW(try_loader(given(), kLimits, empty), RunError);
}

}  // namespace
}  // namespace loaderscope::selftest
