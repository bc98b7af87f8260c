// Length of an epoch: its steps and its start.
#include "analysis/epochs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;

// Steps of 30 ms; of 10 in an epoch the first waits 200 ms more.
StepPlan step_of_epochs(std::int64_t step) {
  StepPlan plan = make_step_plan(25 * kMillisecond, {{Cause::decode, 5 * kMillisecond}});
  plan.epoch = static_cast<std::int32_t>(step / 10);
  if (step % 10 != 0) return plan;
  plan.stall[Cause::startup] = 200 * kMillisecond;
  plan.why[Why::epoch] = 200 * kMillisecond;
  return plan;
}

RunRecord epochs_record(std::int64_t steps) { return make_run_record(4, steps, step_of_epochs); }

double predicted_epoch(const RunRecord& record) {
  return analyse(record).epoch_predicted_s.value_or(-1);
}

TEST(Epochs, SumsStepsAndStart) {
  RunRecord record = epochs_record(36);
  record.config.data.samples.value = 10 * kSamplesPerStep;
  EXPECT_NEAR(predicted_epoch(record), 10 * 0.030 + 0.2, 1e-9);
  record.config.data.samples.value = 20 * kSamplesPerStep - 1;  // the last batch takes a step too
  EXPECT_NEAR(predicted_epoch(record), 20 * 0.030 + 0.2, 1e-9);
  record.config.loader.drop_last.value = true;
  EXPECT_NEAR(predicted_epoch(record), 19 * 0.030 + 0.2, 1e-9);
  record.config.data.samples.value = 0;
  EXPECT_EQ(predicted_epoch(record), -1);
}

TEST(Epochs, DividesSamplesAmongRanks) {
  RunRecord record = epochs_record(36);
  for (int i = 1; i < 3; ++i) record.ranks.push_back(make_rank_record(4, 36, step_of_epochs));
  record.config.trainer.ranks.set(3);
  record.config.data.samples.value = 10;  // four for each rank: one short step
  record.config.loader.batch_size.set(kSamplesPerStep);
  EXPECT_NEAR(predicted_epoch(record), 0.030 + 0.2, 1e-9);
}

TEST(Epochs, UsesMeasuredSamplesPerStep) {
  RunRecord record = epochs_record(36);
  record.config.loader.batch_size.set(1);  // the batches have 16 samples each
  record.config.data.samples.value = 40 * kSamplesPerStep;
  EXPECT_NEAR(predicted_epoch(record), 40 * 0.030 + 0.2, 1e-9);
}

TEST(Epochs, NamesUnseenParts) {
  RunRecord record = make_run_record(4, 40, usual_step);
  record.config.data.samples.value = 1000 * kSamplesPerStep;
  Analysis analysis = analyse(record);
  EXPECT_NEAR(*analysis.epoch_predicted_s, 100, 1e-9);
  EXPECT_EQ(unseen_of_epoch(record, analysis), "");  // negligible in a long epoch
  record.config.data.samples.value = 50 * kSamplesPerStep;
  analysis = analyse(record);
  EXPECT_EQ(unseen_of_epoch(record, analysis), " and the start of its workers");
  record.config.loader.persistent_workers.value = true;
  EXPECT_EQ(unseen_of_epoch(record, analysis), "");
  record.config.program.command.set({"train.py"});
  EXPECT_EQ(unseen_of_epoch(record, analysis), " and what comes between epochs");
  const RunRecord seen = epochs_record(36);
  EXPECT_EQ(unseen_of_epoch(seen, analyse(seen)), "");
}

}  // namespace
}  // namespace loaderscope
