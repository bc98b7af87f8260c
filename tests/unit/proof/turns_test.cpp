// Runs that alternate between the loader and delivered batches: their steps and their rates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"
#include "predict/proof_runs.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr std::int64_t kMinCount = 20;

// A run of a DataLoader with 2 workers and a window of 4.
RunRecord torch_run(std::int64_t warmup, std::int64_t steps) {
  RunRecord record = make_run_record(warmup, steps, usual_step);
  record.engine = "torch";
  record.config.program.loader.set("x.py:f");
  return record;
}

ReplaySchedule planned(const RunRecord& first, std::int64_t steps, double gain = 2) {
  std::string why_not;
  const ReplaySchedule turns = plan_turns(first, steps, kMinCount, gain, why_not);
  EXPECT_EQ(why_not, "");
  return turns;
}

TEST(ProofTurns, WaitsUntilPrefetchIsUsedUp) {
  const ReplaySchedule turns = planned(torch_run(5, 200), 40);
  EXPECT_EQ(turns.lead, 5);
  EXPECT_EQ(turns.settle_loader, 6);
  EXPECT_EQ(turns.settle_replay, 12);
  EXPECT_EQ(turns.steps, 40);
  EXPECT_EQ(turns.all(), 5 + 5 * (6 + 40 + 12 + 40));
}

TEST(ProofTurns, KeepsStepsWithinWholeJob) {
  RunRecord first = torch_run(5, 600);
  first.config.program.command.set({"python", "train.py"});
  first.config.measure.duration.value = 0;
  EXPECT_LE(planned(first, 120).all(), 605);
  EXPECT_EQ(planned(first, 120).rounds, 5);

  first.ranks = torch_run(5, 200).ranks;
  EXPECT_EQ(planned(first, 40).rounds, 3);
  EXPECT_LE(planned(first, 40).all(), 205);
  first.config.measure.steps.set(200);  // the job has many more
  EXPECT_EQ(planned(first, 40).steps, 40);
}

TEST(ProofTurns, ReportsJobThatIsTooShort) {
  RunRecord first = torch_run(5, 60);
  first.config.program.command.set({"python", "train.py"});
  first.config.measure.duration.value = 0;
  std::string why_not;
  plan_turns(first, 20, kMinCount, 2, why_not);
  EXPECT_THAT(why_not, HasSubstr("the run has 65 steps, and"));
}

// 100 ms per step with the loader, 25 ms without; the first of each turn take a second.
TEST(ProofTurns, CountsOnlySettledSteps) {
  const ReplaySchedule turns{3, 2, 4, 10, 3};
  RunRecord record = make_run_record(3, turns.all() - 3, [&](std::int64_t step) {
    const std::int64_t past = (step - turns.lead) % turns.round();
    const bool replays = step >= turns.lead && past >= turns.loader();
    const std::int64_t turn_step = replays ? past - turns.loader() : past;
    if (turn_step < (replays ? turns.settle_replay : turns.settle_loader))
      return make_step_plan(25 * kMillisecond, {{Cause::decode, 975 * kMillisecond}});
    return replays ? make_step_plan(25 * kMillisecond, {}) : usual_step(step);
  });
  const TurnRuns runs = runs_of_turns(record, turns);
  ASSERT_EQ(runs.loader.size(), 3u);
  ASSERT_EQ(runs.replay.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(runs.loader[i].samples_per_s, 160);
    EXPECT_DOUBLE_EQ(runs.loader[i].busy, 0.25);
    EXPECT_DOUBLE_EQ(runs.replay[i].samples_per_s, 640);
    EXPECT_DOUBLE_EQ(runs.replay[i].busy, 1);
  }
}

TEST(ProofTurns, LeavesOutIncompleteRound) {
  const ReplaySchedule turns{3, 2, 4, 10, 3};
  const RunRecord record = make_run_record(3, turns.all() - 3 - 1, usual_step);
  EXPECT_EQ(runs_of_turns(record, turns).replay.size(), 2u);
  EXPECT_EQ(runs_of_turns(make_run_record(0, 5, usual_step), turns).loader.size(), 0u);
  EXPECT_EQ(runs_of_turns(RunRecord{}, turns).loader.size(), 0u);
}

}  // namespace
}  // namespace loaderscope
