// Needs of the ranks of a job for shared resources, compared with arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/totals.h"
#include "loaderscope/errors.h"
#include "predict/job_plan.h"
#include "unit/findings/users_code.h"
#include "unit/predict/shared_thing.h"

namespace loaderscope {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A sample takes 12 ms of a worker, 8 of them of a core; a GPU takes 400 a second.
constexpr const char* kReadsAndDecodes =
    "batch = 16\nworkers = 4\nsteps = 100\ncompute = 40ms\ncost = decode=8ms\n"
    "cost = read=4ms:sleep\ncores = 8\n";

PlanRequest question_with(std::int64_t ranks, Changes changes = {}) {
  PlanRequest question;
  question.ranks = ranks;
  question.changes = std::move(changes);
  return question;
}

JobPlan plan_lines(const std::string& lines, const PlanRequest& question) {
  return plan_job(test::run(lines), question);
}

TEST(JobNeeds, FollowsChangedSpeeds) {
  const JobPlan as_it_was = plan_lines(kReadsAndDecodes, question_with(8));
  EXPECT_EQ(as_it_was.first_full, "workers");
  EXPECT_NEAR(test::find_resource(as_it_was, "workers").needed, 4.8, 0.01);

  const JobPlan faster = plan_lines(kReadsAndDecodes, question_with(8, {{"decode.speed", "2"}}));
  EXPECT_EQ(faster.first_full, "");
  EXPECT_NEAR(test::find_resource(faster, "workers").needed, 3.2, 0.01);
  EXPECT_NEAR(test::find_resource(faster, "host-cores").needed, 1.6, 0.01);

  EXPECT_NEAR(test::find_resource(
                  plan_lines(kReadsAndDecodes, question_with(8, {{"read.speed", "4"}})), "workers")
                  .needed,
              3.6, 0.01);
}

TEST(JobNeeds, FollowsChangedSampleSize) {
  PlanRequest question = question_with(2, {{"stored-bytes", "1MB"}});
  question.storage = SharedStorage{100e6, 0};
  const JobPlan plan = plan_lines(kReadsAndDecodes, question);
  EXPECT_EQ(plan.first_full, "storage");
  EXPECT_NEAR(test::find_resource(plan, "storage").needed, 800e6, 1e6);
}

// Rank 1 needs 7 ms per sample.
TEST(JobNeeds, UsesRankThatNeedsMostWorkers) {
  const JobPlan plan = plan_lines(
      "batch = 8\nworkers = 2\nsteps = 100\ncompute = 20ms\ncost = decode=2ms\ncores = 8\n"
      "ranks = 2\nsync-ranks = true\ninject = decode=+5ms@rank=1\n",
      question_with(2));
  EXPECT_EQ(plan.first_full, "workers");
  EXPECT_NEAR(test::find_resource(plan, "workers").needed, 2.8, 0.01);
  EXPECT_NEAR(test::find_resource(plan, "host-cores").needed, 3.6, 0.01);
}

// 1,601 samples are 17 for each of 100 ranks: a batch of 16 and one of 1, 8.5 in the mean.
TEST(JobNeeds, CountsShortBatchesOfEpoch) {
  PlanRequest question = question_with(100);
  question.storage = SharedStorage{10e9, 0};
  const JobPlan plan = plan_lines(
      "batch = 16\nworkers = 4\nsteps = 48\nsamples = 1601\ncompute = 40ms\ncost = decode=8ms\n"
      "stored-bytes = 110000\ncores = 8\n",
      question);
  EXPECT_EQ(plan.first_full, "");
  EXPECT_NEAR(test::find_resource(plan, "storage").needed, 100 * 8.5 * 110e3 / 0.04, 1e7);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("samples of an epoch are filled up to 1,700")));
}

// Eight reads of 10 ms under way at once: a worker makes a sample in little more than 1.25 ms.
TEST(JobNeeds, CountsConcurrentReadsOfWorkers) {
  PlanRequest question = question_with(2);
  question.storage = SharedStorage{200e6, 10 * kMillisecond};
  const JobPlan plan = plan_lines(
      "batch = 16\nworkers = 4\nsteps = 100\ncompute = 40ms\ncost = decode=1ms\n"
      "storage-latency = 10ms\nstorage-bandwidth = 100MB/s\nqueue-depth = 8\n",
      question);
  EXPECT_EQ(plan.first_full, "");
  EXPECT_GT(test::find_resource(plan, "workers").needed, 16 * 1.25 / 40 - 0.01);
  EXPECT_LT(test::find_resource(plan, "workers").needed, 1);
}

// 4 ms of its own and 8 / 4 of four cores elsewhere: 6 ms a sample.
TEST(JobNeeds, IncludesWaitForDecodeHosts) {
  PlanRequest question = question_with(1, {{"num-workers", "1"}});
  question.decode = DecodeHosts{1, 4, 0};
  const JobPlan plan = plan_lines(kReadsAndDecodes, question);
  EXPECT_EQ(plan.first_full, "workers");
  EXPECT_NEAR(test::find_resource(plan, "workers").needed, 2.4, 0.01);
  EXPECT_NEAR(busy_share(plan.job().account), 1 / 2.4, 0.01);
  EXPECT_NEAR(test::find_resource(plan, "decode-hosts").needed, 3.2, 0.01);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("by all 4 cores of the hosts that decode at once")));
}

TEST(JobNeeds, RejectsDecodeHostsWithoutDecoding) {
  PlanRequest question = question_with(2);
  question.decode = DecodeHosts{2, 4, 0};
  EXPECT_THROW(plan_lines("batch = 4\nworkers = 2\nsteps = 100\ncompute = 20ms\ncost = read=8ms\n",
                          question),
               RunError);
}

// Four ranks want 160 MB/s of the 100 that are declared, which all of them read from.
TEST(JobNeeds, SharesDeclaredStorageAmongHosts) {
  const std::string lines =
      "batch = 16\nworkers = 8\nsteps = 100\ncompute = 40ms\ncost = decode=1ms\n"
      "storage-latency = 1ms\nstorage-bandwidth = 100MB/s\nstored-bytes = 100000\n";
  const JobPlan plan = plan_lines(lines, question_with(4));
  EXPECT_EQ(plan.first_full, "storage");
  EXPECT_NEAR(test::find_resource(plan, "storage").needed, 160e6, 1e6);
  EXPECT_NEAR(plan.job().samples_per_s, 1000, 30);
  EXPECT_THAT(plan.notes, AllOf(Contains(HasSubstr("all hosts are taken to share the 100 MB/s")),
                                Not(Contains(HasSubstr("answer every host as fast")))));
  ASSERT_TRUE(plan.if_unlimited);
  EXPECT_GT(busy_share(plan.if_unlimited->account), 0.99);
}

TEST(JobNeeds, TreatsExactlyEnoughAsNotFull) {
  const JobPlan plan = plan_lines(
      "batch = 8\nworkers = 4\nsteps = 100\ncompute = 20ms\ncost = decode=10ms\ncores = 8\n",
      question_with(1));
  EXPECT_NEAR(test::find_resource(plan, "workers").share(), 1, 1e-6);
  EXPECT_EQ(plan.first_full, "");
}

TEST(JobNeeds, ReportsZeroGivenWorkers) {
  const JobPlan plan =
      plan_lines("batch = 16\nworkers = 0\nsteps = 100\ncompute = 40ms\ncost = decode=4ms\n",
                 question_with(4));
  EXPECT_EQ(plan.first_full, "workers");
  EXPECT_EQ(test::find_resource(plan, "workers").given, 0);
  EXPECT_NEAR(test::find_resource(plan, "workers").needed, 1.6, 0.01);
}

// 16 ranks have 32 steps an epoch, one has 500: with what begins each of them, it is 368 a second.
TEST(JobPlanSizes, CoversWholeEpochsIfJobDoes) {
  const JobPlan plan = plan_lines(
      "batch = 16\nworkers = 3\nsamples = 8000\nsteps = 1500\ncompute = 40ms\ncost = decode=8ms\n"
      "cost = startup=300ms\ncores = 8\n",
      question_with(16));
  ASSERT_TRUE(plan.job().epoch_s);
  for (const JobSize& size : plan.sizes) EXPECT_TRUE(size.epoch_s);
  EXPECT_NEAR(plan.sizes.front().samples_per_s, 368, 3);
}

TEST(JobPlanNotes, ListsAssumptions) {
  const std::string lines = "batch = 4\nworkers = 1\ncompute = 10ms\ncost = decode=2ms\n";
  const RunRecord record = test::run(lines + "steps = 100\n");
  const auto waits = Contains(HasSubstr("each step of the job waits for the slowest"));
  EXPECT_THAT(plan_job(record, question_with(4)).notes, waits);
  EXPECT_THAT(plan_job(record, question_with(4, {{"sync-ranks", "false"}})).notes, Not(waits));
  EXPECT_THAT(plan_job(record, question_with(1)).notes, Not(waits));
  const auto verdict = Contains(HasSubstr("the run has no verdict"));
  EXPECT_THAT(plan_job(record, question_with(4)).notes, Not(verdict));
  EXPECT_THAT(plan_lines(lines + "steps = 3\n", question_with(4)).notes, verdict);
}

TEST(JobPlanNotes, ExplainsMissingPrice) {
  const std::string lines = "batch = 4\nworkers = 1\nsteps = 100\ncompute = 10ms\n";
  PlanRequest question = question_with(4);
  question.gpu_price = 2;
  const auto no_price = Contains(HasSubstr("what an epoch costs is not known"));
  EXPECT_THAT(plan_lines(lines, question).notes, no_price);
  const JobPlan priced_run =
      plan_lines(lines + "samples = 40000\ngpu-price = 3\n", question_with(4));
  EXPECT_THAT(priced_run.notes, Not(no_price));
  EXPECT_NEAR(priced_run.epoch.value().price.value(), 40000 / 1600.0 * 4 * 3 / 3600, 1e-3);
}

}  // namespace
}  // namespace loaderscope
