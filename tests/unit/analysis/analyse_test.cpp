#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/totals.h"
#include "loaderscope/analysis.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

TEST(Analyse, GivesSharesAndRate) {
  const Analysis analysis = analyse(usual_record());
  EXPECT_TRUE(analysis.has_busy);
  EXPECT_TRUE(analysis.steady);
  EXPECT_EQ(analysis.steps, 40);
  EXPECT_EQ(analysis.samples, 640);
  EXPECT_DOUBLE_EQ(analysis.busy.mean, 0.25);
  EXPECT_DOUBLE_EQ(analysis.busy.low, 0.25);
  EXPECT_DOUBLE_EQ(analysis.share[Cause::decode].mean, 0.6);
  EXPECT_DOUBLE_EQ(analysis.samples_per_s.mean, 160);
  EXPECT_EQ(analysis.step_time.count(), 40);
  EXPECT_EQ(analysis.step_time.quantile(0.99), 100 * kMillisecond);
}

TEST(Analyse, SplitsWholeTimeOfFirstBatch) {
  const Analysis analysis = analyse(full_record());
  EXPECT_EQ(analysis.first_batch_wall, 1'595 * kMillisecond + 1);
  Nanos sum = 0;
  for (const auto& [name, ns] : analysis.first_batch_by_cause) sum += ns;
  EXPECT_EQ(sum, analysis.first_batch_wall);
  EXPECT_THAT(analysis.first_batch_by_cause, Contains(Pair("import", 1'500 * kMillisecond)));
  EXPECT_THAT(analysis.first_batch_by_cause, Contains(Pair("decode", 60 * kMillisecond)));
}

TEST(Analyse, NamesEachCauseOfFirstBatchOnce) {
  RunRecord record = usual_record();
  record.before_first_ask = {{"decode", 5}};
  const Analysis analysis = analyse(record);
  EXPECT_THAT(analysis.first_batch_by_cause, Contains(Pair("decode", 60 * kMillisecond + 5)));
  EXPECT_EQ(analysis.first_batch_by_cause.size(), 2u);
}

TEST(Analyse, PredictsAnEpochOfKnownSize) {
  EXPECT_FALSE(analyse(usual_record()).epoch_predicted_s);
  RunRecord record = usual_record();
  record.config.data.samples.set(16'000);
  EXPECT_DOUBLE_EQ(analyse(record).epoch_predicted_s.value(), 100);
}

TEST(Analyse, TakesMeanOfRanksAndSumOfRates) {
  const Analysis analysis = analyse(two_ranks());
  EXPECT_EQ(analysis.rank_accounts.size(), 2u);
  EXPECT_DOUBLE_EQ(analysis.busy.mean, 0.275);
  EXPECT_DOUBLE_EQ(analysis.samples_per_s.mean, 320);
  EXPECT_EQ(analysis.steps, 40);
  EXPECT_EQ(analysis.samples, 1280);
  EXPECT_EQ(analysis.account.compute, 1'100 * kMillisecond);
}

TEST(Analyse, ReportsStepsOfShortestRank) {
  RunRecord record = usual_record();
  record.ranks.push_back(make_rank_record(0, 30, usual_step));
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.steps, 30);
  EXPECT_DOUBLE_EQ(analysis.samples_per_s.mean, 320);
  EXPECT_DOUBLE_EQ(analysis.busy.mean, 0.25);
}

// Two ranks that do not wait for each other, measured for a time: the slow one has a third of the
// steps of the other.
TEST(Analyse, JudgesRanksOfUnequalStepsEachForItself) {
  RunRecord record = usual_record();
  const auto every = [](Nanos waits) {
    return [waits](std::int64_t) {
      return make_step_plan(20 * kMillisecond, {{Cause::read, waits}});
    };
  };
  record.ranks.clear();
  record.ranks.push_back(make_rank_record(0, 120, every(20 * kMillisecond)));
  record.ranks.push_back(make_rank_record(0, 40, every(100 * kMillisecond)));
  const Analysis analysis = analyse(record);
  EXPECT_TRUE(analysis.steady);
  EXPECT_FALSE(analysis.verdict.withheld_reason);
  EXPECT_NEAR(static_cast<double>(step_mean(record, analysis.account.compute)), 20 * kMillisecond,
              1);
  EXPECT_LT(analysis.busy.half_width(), 0.02);

  // One rank that gets slower is enough.
  record.ranks.back() = make_rank_record(0, 40, [](std::int64_t step) {
    return make_step_plan(20 * kMillisecond,
                          {{Cause::read, (step < 20 ? 60 : 140) * kMillisecond}});
  });
  EXPECT_FALSE(analyse(record).steady);
}

TEST(Analyse, AcceptsEmptyRecord) {
  const Analysis analysis = analyse(RunRecord{});
  EXPECT_EQ(analysis.steps, 0);
  EXPECT_EQ(analysis.account.window, 0);
  EXPECT_FALSE(analysis.has_busy);
  EXPECT_EQ(analysis.samples_per_s.mean, 0);
}

TEST(AnalyseNotes, WarnsOfTooFewBlocksForInterval) {
  RunRecord record = usual_record();
  EXPECT_THAT(analyse(record).notes, IsEmpty());
  record.config.loader.num_workers.value = 7;  // 40 steps are 2.9 blocks of 14
  const std::string note =
      "40 steps are 2.8 blocks of 14, which gives no firm interval; give --steps 140";
  EXPECT_THAT(analyse(record).notes, Contains(note));
  EXPECT_FALSE(analyse(record).verdict.withheld_reason);  // all steps are alike
  record.ranks.front() = make_rank_record(4, 40, [](std::int64_t step) {
    return make_step_plan(25 * kMillisecond,
                          {{Cause::decode, (60 + 2 * (step % 20)) * kMillisecond}});
  });
  EXPECT_EQ(analyse(record).verdict.withheld_reason, note);
  EXPECT_THAT(analyse(record).notes, Not(Contains(note)));  // the verdict says it already
}

TEST(AnalyseNotes, WarnsOfFewerThanFourWindows) {
  RunRecord record = usual_record();
  record.config.loader.prefetch_factor.value = 5;  // 10 batches for 2 workers
  EXPECT_THAT(analyse(record).notes, IsEmpty());
  record.config.loader.prefetch_factor.value = 6;
  EXPECT_THAT(analyse(record).notes,
              Contains("40 steps are less than four windows of 12 batches, so what was made before "
                       "them may carry the rate; give --steps 48"));
  record.config.loader.num_workers.value = 0;
  EXPECT_THAT(analyse(record).notes, IsEmpty());
}

TEST(AnalyseNotes, SaysWhenNoEpochEnded) {
  RunRecord record = usual_record();
  record.config.data.samples.set(1'000'000);
  EXPECT_THAT(analyse(record).notes, Contains(HasSubstr("no epoch ended")));
  record.config.loader.persistent_workers.set(true);
  EXPECT_THAT(analyse(record).notes, Not(Contains(HasSubstr("no epoch ended"))));
  RunRecord two = make_run_record(4, 40, [](std::int64_t step) {
    StepPlan plan = usual_step(step);
    plan.epoch = step < 20 ? 0 : 1;
    return plan;
  });
  two.config.data.samples.set(320);
  EXPECT_THAT(analyse(two).notes, IsEmpty());
}

TEST(AnalyseNotes, WarnsThatShortWindowHidesMemoryGrowth) {
  RunRecord record = usual_record();
  record.engine = "native";
  EXPECT_THAT(analyse(record).notes,
              Contains(HasSubstr("a window of 4.000 s cannot show memory that grows")));
}

TEST(Analyse, SaysWhatTheWaitingCosts) {
  RunRecord record = usual_record();
  Analysis analysis = analyse(record);
  ASSERT_TRUE(analysis.waste);
  EXPECT_DOUBLE_EQ(analysis.waste->gpu_hours_per_day, 18);  // one GPU that waits 75 % of the time
  EXPECT_FALSE(analysis.waste->price_per_day);
  record.config.answer.gpu_price.set(2.5);
  analysis = analyse(record);
  EXPECT_DOUBLE_EQ(*analysis.waste->price_per_day, 45);
}

TEST(Analyse, ReportsWasteWithoutGpuOnlyForGivenPrice) {
  RunRecord record = usual_record();
  record.config.trainer.device.value = "script";
  EXPECT_FALSE(analyse(record).waste);
  record.config.answer.gpu_price.set(2.5);
  EXPECT_DOUBLE_EQ(analyse(record).waste.value().gpu_hours_per_day, 18);
}

// Three processes train on one GPU of two.
TEST(Analyse, ReportsNoWasteForRanksThatShareGpu) {
  RunRecord record = usual_record();
  record.simulated = false;
  record.config.trainer.device.value = "cuda";
  record.machine.gpus = "2 x NVIDIA H200";
  for (int i = 0; i < 2; ++i) record.ranks.push_back(make_rank_record(4, 40, usual_step));
  EXPECT_FALSE(analyse(record).waste);
  EXPECT_THAT(analyse(record).verdict.sentence,
              testing::StartsWith("The 3 ranks, which share 2 GPUs, wait 75.0 %"));
  record.metrics = {{"gpu.sampled", "1", "GPUs that they are of", 1}};
  EXPECT_THAT(analyse(record).verdict.sentence,
              testing::StartsWith("The 3 ranks, which share 1 GPU, wait 75.0 %"));
  record.metrics.clear();
  record.ranks.pop_back();
  EXPECT_DOUBLE_EQ(analyse(record).waste.value().gpu_hours_per_day, 36);
  EXPECT_THAT(analyse(record).verdict.sentence, testing::StartsWith("The GPUs wait 75.0 %"));
  record.simulated = true;
  record.ranks.push_back(make_rank_record(4, 40, usual_step));
  EXPECT_DOUBLE_EQ(analyse(record).waste.value().gpu_hours_per_day, 54);
}

TEST(Analyse, HandlesAbsurdSettingsWithoutOverflow) {
  RunRecord record = usual_record();
  record.config.loader.num_workers.value = INT64_MAX;
  record.config.data.samples.value = INT64_MAX;
  EXPECT_GT(analyse(record).busy.mean, 0);
}

}  // namespace
}  // namespace loaderscope
