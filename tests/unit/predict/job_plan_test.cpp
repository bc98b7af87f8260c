// A run as a job of many ranks: where the answer is known by arithmetic, or by the run with as
// many.
#include "predict/job_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/totals.h"
#include "loaderscope/errors.h"
#include "unit/findings/users_code.h"
#include "unit/predict/shared_thing.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

// One worker makes a batch of 4 in 8 ms of a core, a step takes 10 ms: never waited for.
constexpr const char* kFast =
    "batch = 4\nworkers = 1\nsteps = 100\ncompute = 10ms\ncost = decode=2ms\n"
    "stored-bytes = 1000000\n";
// 16 ms against 10 ms.
constexpr const char* kSlow =
    "batch = 4\nworkers = 1\nsteps = 100\ncompute = 10ms\ncost = decode=4ms\n";

RunRecord run_lines(const std::string& lines) { return test::run(lines); }

PlanRequest make_request(std::int64_t ranks, std::int64_t hosts = 0) {
  PlanRequest question;
  question.ranks = ranks;
  question.hosts = hosts;
  return question;
}

TEST(JobPlan, RepeatsRunForSameSize) {
  const JobPlan plan = plan_job(run_lines(kSlow), make_request(1));
  ASSERT_EQ(plan.sizes.size(), 1U);
  EXPECT_NEAR(plan.job().samples_per_s, plan.measured.samples_per_s, 1);
  EXPECT_NEAR(busy_share(plan.job().account), 10.0 / 16, 0.01);
  EXPECT_EQ(plan.first_full, "workers");
}

// The steps of an incomplete job contain waits of unknown length for the lost ranks.
TEST(JobPlan, RejectsIncompleteJob) {
  RunRecord record = run_lines(kSlow);
  record.metrics.push_back({"rendezvous.missing_processes", "1", "", 2});
  try {
    plan_job(record, make_request(16));
    FAIL() << "was planned";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--from: the run lost 2 processes of its job"));
  }
}

// 16 ms of making and 10 of computing, with 6 ms of the trainer's own thread before each compute:
// with workers enough a step takes 16 ms.
TEST(JobPlan, KeepsTimeOfTrainerWithUnlimitedResources) {
  const JobPlan plan = plan_job(
      run_lines(std::string(kSlow) + "cost = launch=6ms\nin-flight = 1\n"), make_request(1));
  EXPECT_EQ(plan.first_full, "workers");
  ASSERT_TRUE(plan.if_unlimited);
  EXPECT_NEAR(busy_share(plan.if_unlimited->account), 10.0 / 16, 0.01);
  EXPECT_NEAR(
      window_share(plan.if_unlimited->account.stall[Cause::launch], plan.if_unlimited->account),
      6.0 / 16, 0.01);
  EXPECT_GT(busy_share(plan_job(run_lines(kSlow), make_request(1)).if_unlimited.value().account),
            0.99);
  EXPECT_FALSE(plan_job(run_lines(kFast), make_request(1)).if_unlimited);
}

TEST(JobPlan, KeepsRateOfRanksOnSeparateHosts) {
  const RunRecord record = run_lines(std::string(kSlow) + "cores = 1\n");
  const JobPlan plan = plan_job(record, make_request(64));
  EXPECT_EQ(plan.question.hosts, 64);
  EXPECT_NEAR(plan.job().samples_per_s, 64 * plan.measured.samples_per_s,
              0.001 * plan.job().samples_per_s);
}

TEST(JobPlan, SharesCoresOfHostAmongRanks) {
  const RunRecord record = run_lines(std::string(kFast) + "cores = 2\n");
  // Four ranks want 0.8 cores each and get 0.5 of them.
  const JobPlan plan = plan_job(record, make_request(4, 1));
  EXPECT_NEAR(busy_share(plan.job().account), 2 / 3.2, 0.01);
  EXPECT_EQ(plan.first_full, "host-cores");
  EXPECT_NEAR(test::find_resource(plan, "host-cores").needed, 3.2, 0.01);
}

// 9 ranks on 8 hosts: one of these has two of them, and no host is without.
TEST(JobPlan, SpreadsUnevenRanksOverAllHosts) {
  const RunRecord record = run_lines(std::string(kFast) + "cores = 1\n");
  const JobPlan plan = plan_job(record, make_request(9, 8));
  EXPECT_EQ(plan.first_full, "host-cores");
  EXPECT_NEAR(test::find_resource(plan, "host-cores").needed, 1.6, 0.01);
  EXPECT_NEAR(busy_share(plan.job().account), 1 / 1.6, 0.01);
  PlanRequest apart = make_request(9, 8);
  apart.changes = {{"sync-ranks", "false"}};
  EXPECT_NEAR(busy_share(plan_job(record, apart).job().account), 9 / (7 + 2 * 1.6), 0.01);
}

// The same ranks, run: 2 on a host.
TEST(JobPlan, MatchesRunWithSameNumberOfRanks) {
  const std::string two = "ranks = 2\nsync-ranks = true\ncores = 1.5\n";
  const JobPlan plan =
      plan_job(run_lines(std::string(kFast) + "cores = 1.5\n"), make_request(2, 1));
  EXPECT_NEAR(plan.job().samples_per_s, analyse(run_lines(kFast + two)).samples_per_s.mean,
              0.01 * plan.job().samples_per_s);
}

// All costs are equal. Two workers that need a core for 1 ms of 10 ms rarely meet on it.
TEST(JobPlan, StartsRanksAtDifferentTimes) {
  const RunRecord record = run_lines(
      "batch = 1\nworkers = 1\nsteps = 100\ncompute = 9ms\ncost = read=9ms\ncost = decode=1ms\n"
      "cores = 1\n");
  const JobPlan plan = plan_job(record, make_request(4, 1));
  EXPECT_NEAR(plan.job().samples_per_s, 4 * plan.measured.samples_per_s,
              0.05 * plan.job().samples_per_s);
}

TEST(JobPlan, LimitsRateBySharedStorage) {
  PlanRequest question = make_request(100);
  // A rank that never waits needs 400 MB/s.
  question.storage = SharedStorage{20e9, 0};
  const JobPlan plan = plan_job(run_lines(kFast), question);
  EXPECT_EQ(plan.first_full, "storage");
  EXPECT_NEAR(test::find_resource(plan, "storage").needed, 40e9, 0.2e9);
  EXPECT_NEAR(test::find_resource(plan, "storage").full_at_ranks.value(), 50, 0.5);
  EXPECT_NEAR(busy_share(plan.job().account), 0.5, 0.01);
  EXPECT_GT(busy_share(plan.sizes.front().account), 0.99);
}

// A program that delivers whole batches, 4 samples per row, waits at least 80 ms for each batch.
TEST(JobPlan, DelaysWholeBatchesByStorageLatency) {
  RunRecord record = run_lines(kFast);
  record.engine = record.config.engine.value = "torch";
  for (RankRecord& rank : record.ranks) {
    std::vector<SampleRow> batches;
    for (std::size_t i = 0; i + 4 <= rank.reservoir.size(); i += 4) {
      SampleRow row = rank.reservoir[i];
      row.sample = -4;
      row.bytes *= 4;
      for (SampleRow::Part& part : row.parts) part = {4 * part.wall, 4 * part.cpu, 4 * part.queued};
      batches.push_back(row);
    }
    rank.reservoir = std::move(batches);
  }
  PlanRequest question = make_request(2);
  question.storage = SharedStorage{20e9, 80 * kMillisecond};
  const JobPlan plan = plan_job(record, question);
  EXPECT_LT(plan.job().samples_per_s, 2 * 4 / 0.08);
  EXPECT_GT(plan.job().samples_per_s, 2 * 4 / 0.1);
  EXPECT_THAT(plan.notes,
              ::testing::Contains(HasSubstr("at most: the run saw whole batches of this program, "
                                            "and each is taken to wait once for the "
                                            "first byte (80.00 ms); a data set that reads its 4 "
                                            "samples one after another waits 320.0 ms")));
  question.storage = SharedStorage{20e9, 0};
  EXPECT_THAT(plan_job(record, question).notes,
              ::testing::Not(::testing::Contains(HasSubstr("at most: the run"))));
}

TEST(JobPlan, SharesDecodeHostsAmongRanks) {
  PlanRequest question = make_request(100);
  // 100 ranks want 80 cores.
  question.decode = DecodeHosts{10, 4, 0};
  const JobPlan plan = plan_job(run_lines(kFast), question);
  EXPECT_EQ(plan.first_full, "decode-hosts");
  EXPECT_NEAR(test::find_resource(plan, "decode-hosts").needed, 80, 0.5);
  EXPECT_NEAR(busy_share(plan.job().account), 0.5, 0.01);
  question.decode->count = 25;
  EXPECT_GT(busy_share(plan_job(run_lines(kFast), question).job().account), 0.99);
}

TEST(JobPlan, WaitsForSlowestRankInEachStep) {
  const RunRecord record = run_lines(
      "batch = 4\nworkers = 1\nsteps = 200\ncompute = 10ms\n"
      "cost = decode=lognormal:2ms:0.8\n");
  const JobPlan plan = plan_job(record, make_request(64));
  ASSERT_GT(plan.sizes.size(), 2U);
  EXPECT_LT(busy_share(plan.job().account), busy_share(plan.sizes.front().account) - 0.05);
}

TEST(JobPlan, AcceptsOtherComputeTime) {
  PlanRequest question = make_request(8);
  question.changes = {{"compute", "20ms"}, {"samples", "3200"}};
  question.gpu_price = 3;
  const JobPlan plan = plan_job(run_lines(kSlow), question);
  EXPECT_GT(busy_share(plan.job().account), 0.99);
  EXPECT_NEAR(plan.job().samples_per_s, 8 * 4 / 0.020, 8);
  ASSERT_TRUE(plan.epoch);
  EXPECT_EQ(plan.epoch->steps, 100);
  EXPECT_NEAR(plan.epoch->seconds, 2, 0.02);
  EXPECT_NEAR(plan.epoch->price.value(), 2 * 8 * 3 / 3600.0, 1e-4);
}

TEST(JobPlan, StartsEachEpochAsInRun) {
  const RunRecord record = run_lines(
      "batch = 4\nworkers = 2\nsteps = 400\nsamples = 400\ncompute = 20ms\ncost = decode=8ms\n"
      "cost = startup=2s\n");
  const JobPlan plan = plan_job(record, make_request(1));
  ASSERT_TRUE(plan.epoch);
  EXPECT_NEAR(plan.epoch->start_s, 2, 0.05);
  EXPECT_NEAR(plan.epoch->seconds, analyse(record).epoch_predicted_s.value(), 0.05);
  EXPECT_NEAR(plan.epoch->busy, 0.5, 0.01);
}

// 400 samples are 100 steps of the rank that was measured, within one epoch, and 25 of each of
// four.
TEST(JobPlan, ModelsStartOfShortEpochs) {
  const std::string epochs = std::string(kFast) + "samples = 400\ncost = startup=30ms\n";
  const JobPlan plan = plan_job(run_lines(epochs), make_request(4));
  const Analysis four = analyse(run_lines(epochs + "ranks = 4\nsync-ranks = true\n"));
  EXPECT_LT(four.samples_per_s.mean, 0.9 * 1600);  // the rate without starts of epochs
  EXPECT_NEAR(plan.job().samples_per_s, four.samples_per_s.mean, 0.02 * four.samples_per_s.mean);
  ASSERT_TRUE(plan.epoch);
  EXPECT_EQ(plan.epoch->steps, 25);
  EXPECT_NEAR(plan.epoch->seconds, 400 / plan.job().samples_per_s, 1e-3);
  EXPECT_NEAR(plan.epoch->busy, 0.25 / plan.epoch->seconds, 0.01);
  EXPECT_THAT(plan.notes,
              ::testing::Contains(HasSubstr("an epoch of the job has 25 steps of each")));
}

TEST(JobPlan, KeepsEpochAtLeastAsLongAsItsSteps) {
  PlanRequest question = make_request(1000);
  question.changes = {{"samples", "4000"}};
  const JobPlan plan = plan_job(run_lines(kFast), question);
  ASSERT_TRUE(plan.epoch);
  EXPECT_EQ(plan.epoch->steps, 1);
  EXPECT_NEAR(plan.epoch->seconds, 0.010, 0.001);
}

TEST(JobPlan, ListsSizesUpToJob) {
  for (const std::int64_t ranks : {1, 2, 3, 7, 100}) {
    const JobPlan plan = plan_job(run_lines(kSlow), make_request(ranks));
    EXPECT_EQ(plan.job().ranks, ranks);
    EXPECT_LE(plan.sizes.size(), 8U);
    for (const JobSize& size : plan.sizes) {
      Nanos sum = size.account.compute;
      for (const Nanos stall : size.account.stall) sum += stall;
      EXPECT_EQ(sum, size.account.window);
    }
  }
}

TEST(JobPlan, RefusesMoreHostsThanRanks) {
  EXPECT_THROW(plan_job(run_lines(kSlow), make_request(2, 3)), UsageError);
}

}  // namespace
}  // namespace loaderscope
