#include "report/next_command.h"

#include <gtest/gtest.h>

#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;

constexpr const char* kUsual = "loaderscope run --num-workers 2 --batch-size 16 --compute 25ms";

std::string next(const RunRecord& record) { return next_command(record, analyse(record)); }

RunRecord bound_by(Cause cause, Why why = Why::capacity) {
  return record_of(4, 40, [=](std::int64_t) {
    StepPlan plan = step_of(25 * kMillisecond, {{cause, 75 * kMillisecond}});
    plan.why[why] = 75 * kMillisecond;
    return plan;
  });
}

TEST(NextCommand, ChangesWhatTheCauseSuggests) {
  const std::string usual = kUsual;
  const std::string rest = " --batch-size 16 --compute 25ms";
  EXPECT_EQ(next(bound_by(Cause::decode)), "loaderscope run" + rest + " --num-workers 4");
  EXPECT_EQ(next(bound_by(Cause::read, Why::depth)), usual + " --prefetch-factor 4");
  EXPECT_EQ(next(bound_by(Cause::startup, Why::epoch)), usual + " --persistent-workers");
  EXPECT_EQ(next(bound_by(Cause::h2d)), usual + " --copy stream");
  EXPECT_EQ(next(bound_by(Cause::pin)), usual + " --memory pinned-slots");
  EXPECT_EQ(next(bound_by(Cause::contention)), "");  // no more workers than cores
  EXPECT_EQ(next(bound_by(Cause::transport)), "");
}

TEST(NextCommand, DropsWhatTheChangeReplaces) {
  RunRecord record = bound_by(Cause::decode);
  record.config.num_workers.set(0);
  record.config.executor.set(Executor::inline_);
  EXPECT_EQ(next(record), "loaderscope run --batch-size 16 --compute 25ms --num-workers 4");
  record = bound_by(Cause::pin);
  record.config.pin_memory.set(true);
  record.config.memory.value = MemoryMode::pin_thread;
  EXPECT_EQ(next(record), std::string(kUsual) + " --memory pinned-slots");
}

TEST(NextCommand, DoesNotAddWorkersToFullCores) {
  RunRecord record = record_of(4, 40, [](std::int64_t) {
    StepPlan plan = step_of(25 * kMillisecond, {{Cause::decode, 70 * kMillisecond},
                                                {Cause::contention, 5 * kMillisecond}});
    plan.why[Why::capacity] = 75 * kMillisecond;
    return plan;
  });
  record.config.num_workers.set(4);
  EXPECT_EQ(next(record), "");
}

TEST(NextCommand, AddsWorkersThatWaitForStorageWhateverTheCores) {
  RunRecord record = bound_by(Cause::read);
  record.config.num_workers.set(4);
  StageStats& read = record.ranks[0].stages[Stage::read];
  read.add(8 * kMillisecond, 100'000, 0, 0);
  EXPECT_EQ(next(record), "loaderscope run --batch-size 16 --compute 25ms --num-workers 8");
  read.add(9 * kMillisecond, 9 * kMillisecond, 0, 0);  // now most of it is computing
  EXPECT_EQ(next(record), "");
}

TEST(NextCommand, AsksForMoreEpochsWhereTheInputEnded) {
  RunRecord record = record_of(4, 8, usual_step);
  record.config.epochs.set(2);
  record.config.samples.set(96);
  EXPECT_EQ(next(record),
            "loaderscope run --samples 96 --num-workers 2 --batch-size 16 "
            "--compute 25ms --epochs 25");
}

TEST(NextCommand, SaysNothingOfARunThatWasInterrupted) {
  RunRecord record = record_of(4, 10, usual_step);
  record.interrupted = true;
  EXPECT_EQ(next(record), "");
  EXPECT_EQ(analyse(record).verdict.withheld_reason,
            "10 steps were measured and a verdict needs 20");
}

TEST(NextCommand, MeasuresLongerWhenTheVerdictIsWithheld) {
  EXPECT_EQ(next(record_of(4, 10, usual_step)), std::string(kUsual) + " --steps 100");
}

TEST(NextCommand, IsNothingWhenTheGpuIsTheLimit) {
  EXPECT_EQ(next(record_of(4, 40, [](std::int64_t) { return step_of(kSecond, {}); })), "");
}

TEST(NextCommand, QuotesForTheShell) {
  RunRecord record = bound_by(Cause::h2d);
  Injection injection;
  injection.text = "read=+5ms@p=0.01 'x'";
  record.config.inject.set({injection});
  record.config.in_order.set(false);
  EXPECT_EQ(next(record),
            "loaderscope run --num-workers 2 --batch-size 16 --no-in-order --compute 25ms --inject "
            "'read=+5ms@p=0.01 '\\''x'\\''' --copy stream");
}

}  // namespace
}  // namespace loaderscope
