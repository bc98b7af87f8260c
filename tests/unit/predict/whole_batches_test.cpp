// Predictions for loaders whose data set delivers whole batches: the model draws batches again. The
// expected answer is a run with the other settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "unit/findings/users_code.h"

namespace loaderscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

RunRecord run_of_batches(const std::string& lines) {
  RunRecord record = test::run(lines);
  test::make_batches_whole(record);
  return record;
}

double mean_rate(const std::string& lines) {
  return analyse(run_of_batches(lines)).samples_per_s.mean;
}

// Returns the relative error of the prediction from `lines`, compared with the run with `other`
// lines, which come last.
double prediction_error(const std::string& lines, const Changes& changes,
                        const std::string& other) {
  const RunRecord record = run_of_batches(lines + "workers = 1\n");
  const Analysis measured = analyse(record);
  const ScaledPrediction promise = scale_prediction(measured, FittedModel(record).predict(changes));
  return promise.rate_after / mean_rate(lines + other) - 1;
}

constexpr const char* kEvenBatches = "batch = 8\nsteps = 240\ncompute = 10ms\ncost = decode=4ms\n";
constexpr const char* kVariedBatches =
    "batch = 8\nsteps = 400\ncompute = 10ms\ncost = read=lognormal:2ms:0.5\n"
    "cost = decode=lognormal:4ms:0.5\ncost = collate=1ms\ncost = transport=2ms\n";

// 32 ms for a batch, 10 ms for its step.
TEST(WholeBatches, AssignsOneBatchToEachWorker) {
  const RunRecord record = run_of_batches(std::string(kEvenBatches) + "workers = 1\n");
  const FittedModel model(record);
  EXPECT_NEAR(model.predict({}).samples_per_s, 8 / 0.032, 0.01 * 8 / 0.032);
  EXPECT_NEAR(model.predict({{"workers", "2"}}).samples_per_s, 8 / 0.016, 0.01 * 8 / 0.016);
  EXPECT_NEAR(model.predict({{"workers", "4"}}).samples_per_s, 8 / 0.010, 0.01 * 8 / 0.010);
}

TEST(WholeBatches, PredictsOtherNumbersOfWorkers) {
  for (const std::string workers : {"2", "3", "4", "6"}) {
    EXPECT_NEAR(prediction_error(kEvenBatches, {{"workers", workers}}, "workers = " + workers), 0,
                0.03);
    EXPECT_NEAR(prediction_error(kVariedBatches, {{"workers", workers}}, "workers = " + workers), 0,
                0.03);
  }
}

TEST(WholeBatches, PredictsRunWithoutWorkers) {
  EXPECT_NEAR(prediction_error(kEvenBatches, {{"workers", "0"}}, "workers = 0\n"), 0, 0.03);
}

TEST(WholeBatches, PredictsDeeperPrefetch) {
  const std::string lines =
      "batch = 8\nsteps = 400\ncompute = 50ms\ncost = decode=4ms\n"
      "inject = decode=+200ms@every=128\n";
  EXPECT_GT(mean_rate(lines + "workers = 1\nprefetch = 8\n"),
            1.05 * mean_rate(lines + "workers = 1\n"));
  EXPECT_NEAR(prediction_error(lines, {{"prefetch", "8"}}, "workers = 1\nprefetch = 8\n"), 0, 0.03);
}

TEST(WholeBatches, PredictsFewerCores) {
  const Changes changes = {{"workers", "4"}, {"cores", "2"}};
  EXPECT_NEAR(prediction_error(kEvenBatches, changes, "workers = 4\ncores = 2\n"), 0, 0.03);
}

TEST(WholeBatches, PredictsPinning) {
  const Changes changes = {{"memory", "pin-thread"}, {"cost", "pin=12ms"}, {"workers", "4"}};
  const std::string other = "workers = 4\nmemory = pin-thread\ncost = pin=12ms\n";
  EXPECT_NEAR(prediction_error(kVariedBatches, changes, other), 0, 0.03);
}

TEST(WholeBatches, PredictsStartsOfEpochs) {
  const std::string lines = std::string(kEvenBatches) + "samples = 320\ncost = startup=100ms\n";
  EXPECT_NEAR(prediction_error(lines, {{"workers", "3"}}, "workers = 3\n"), 0, 0.03);
  EXPECT_NEAR(prediction_error(lines, {{"persistent-workers", "true"}},
                               "workers = 1\npersistent-workers = true\n"),
              0, 0.03);
}

// Three batches of 8 samples and one of 2 in an epoch.
TEST(WholeBatches, KeepsLastBatchesShort) {
  const std::string lines = std::string(kEvenBatches) + "samples = 26\npersistent-workers = true\n";
  EXPECT_NEAR(prediction_error(lines, {{"drop-last", "true"}}, "workers = 1\ndrop-last = true\n"),
              0, 0.03);
  EXPECT_NEAR(prediction_error(lines, {{"workers", "2"}}, "workers = 2\n"), 0, 0.03);
}

TEST(WholeBatches, PredictsBatchesOfEachRank) {
  const std::string lines = std::string(kVariedBatches) + "ranks = 2\nsync-ranks = true\n";
  EXPECT_NEAR(prediction_error(lines, {{"workers", "3"}}, "workers = 3\n"), 0, 0.03);
}

TEST(WholeBatches, ReportsBatchAsUnit) {
  const FittedModel model(run_of_batches(std::string(kEvenBatches) + "workers = 1\n"));
  EXPECT_THAT(model.notes(), Contains(StartsWith("no single sample was seen")));
}

// Another size of the batches, or one batch for several workers.
TEST(WholeBatches, RejectsChangesThatNeedSampleTimes) {
  const FittedModel model(run_of_batches(std::string(kEvenBatches) + "workers = 1\n"));
  for (const Change& change : {Change{"batch-size", "16"}, Change{"task", "sample"}}) {
    try {
      model.predict({change});
      ADD_FAILURE() << change.key << " was predicted";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("--set " + change.key + "=" + change.value));
      EXPECT_THAT(error.what(), HasSubstr("no single sample was seen"));
    }
  }
}

TEST(WholeBatches, PredictsGainOfFindings) {
  const RunRecord record = run_of_batches(std::string(kEvenBatches) + "workers = 1\n");
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->id, "too-few-workers");
  EXPECT_TRUE(fix->has_figures());
}

}  // namespace
}  // namespace loaderscope
