#include "report/next_command.h"

#include <gtest/gtest.h>

#include "unit/report/sample_finding.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;

constexpr const char* kUsual = "loaderscope run --num-workers 2 --batch-size 16 --compute 25ms";

std::string next(const RunRecord& record) { return next_command(record, analyse(record)); }

// The next command after a run whose first finding is fixed by `changes`.
std::string next_with(const Changes& changes,
                      const RunRecord& record = make_run_record(4, 40, usual_step),
                      const std::optional<Proof>& proof = {}) {
  Analysis analysis = analysis_with(record, changes);
  analysis.proof = proof;
  return next_command(record, analysis);
}

std::string command_with(const Changes& changes,
                         const RunRecord& record = make_run_record(4, 40, usual_step)) {
  return command_for(record.config, changes);
}

TEST(NextCommand, TriesTheChangesOfTheFirstFinding) {
  EXPECT_EQ(next_with({{"prefetch-factor", "4"}}), std::string(kUsual) + " --try");
  EXPECT_EQ(command_with({{"prefetch-factor", "4"}}),
            "loaderscope run --num-workers 2 --prefetch-factor 4 --batch-size 16 --compute 25ms");
  EXPECT_EQ(command_with({{"persistent-workers", "true"}}),
            "loaderscope run --num-workers 2 --batch-size 16 --persistent-workers --compute 25ms");
}

// A tried change becomes the next command if it helped.
TEST(NextCommand, MakesTheChangesThatHaveHelped) {
  RunRecord record = make_run_record(4, 40, usual_step);
  record.config.answer.prove.set(Prove::fix);
  Proof proof;
  proof.asked = Prove::fix;
  proof.exact = true;
  proof.base.runs = {{160, 0.25}};
  ProofCase& tried = proof.cases.emplace_back();
  tried.changes = {{"prefetch-factor", "4"}};
  tried.runs = {{320, 0.5}};
  EXPECT_EQ(next_with(tried.changes, record, proof), command_with({{"prefetch-factor", "4"}}));
  tried.runs = {{160, 0.25}};
  EXPECT_EQ(next_with(tried.changes, record, proof), "");
}

// Advice without a setting cannot be tried, but the blamed stage can be left out.
TEST(NextCommand, ProvesIfNoSettingHelps) {
  const RunRecord record = make_run_record(4, 40, usual_step);
  Analysis analysis = analysis_with(record, {{"decode.speed", "2"}});
  analysis.verdict = {};
  analysis.verdict.bound_by = "decode";
  analysis.verdict.candidates = {Cause::decode};
  EXPECT_EQ(next_command(record, analysis), std::string(kUsual) + " --prove");
}

// A program that was measured from its start to its end has no more steps to give.
TEST(NextCommand, AsksNoProgramForMoreThanItHas) {
  RunRecord record = make_run_record(4, 10, usual_step);
  record.config.engine.value = "torch";
  record.config.program.command.set({"python", "train.py"});
  record.config.measure.duration.value = 0;
  ASSERT_TRUE(analyse(record).verdict.withheld_reason);
  EXPECT_EQ(next(record), "");
  EXPECT_EQ(next_with({{"num-workers", "4"}}, record), "")
      << "nothing is advised without a verdict";
}

TEST(NextCommand, DropsWhatTheChangeContradicts) {
  RunRecord record = make_run_record(4, 40, usual_step);
  record.config.loader.num_workers.set(0);
  record.config.loader.executor.set(Executor::inline_);
  EXPECT_EQ(command_with({{"num-workers", "4"}}, record),
            "loaderscope run --num-workers 4 --batch-size 16 --compute 25ms");
  record = make_run_record(4, 40, usual_step);
  record.config.loader.pin_memory.set(true);
  record.config.loader.memory.value = MemoryMode::pin_thread;
  EXPECT_EQ(command_with({{"memory", "pinned-slots"}}, record),
            "loaderscope run --num-workers 2 --batch-size 16 --memory pinned-slots --compute 25ms");
}

TEST(NextCommand, KeepsThePinThreadThatWasGiven) {
  RunRecord record = make_run_record(4, 40, usual_step);
  record.config.loader.pin_memory.set(true);
  record.config.loader.memory.value = MemoryMode::pin_thread;
  EXPECT_EQ(command_with({{"num-workers", "4"}}, record),
            "loaderscope run --num-workers 4 --batch-size 16 --pin-memory --compute 25ms");
}

TEST(NextCommand, AsksModelAboutSpeedsThatNoRunCanChange) {
  const Changes faster = {{"decode.speed", "2"}};
  EXPECT_EQ(command_with(faster),
            "loaderscope what-if --num-workers 2 --batch-size 16 --compute 25ms --set "
            "decode.speed=2");
  RunRecord record = make_run_record(4, 40, usual_step);
  record.config.answer.json.set("my run.json");
  EXPECT_EQ(command_with(faster, record), "loaderscope what-if 'my run.json' --set decode.speed=2");
  record = make_run_record(4, 40, usual_step);
  record.config.data.paths.set({"/data"});
  record.config.data.source.value = "files";
  EXPECT_EQ(command_with(faster, record),
            "loaderscope run --data /data --num-workers 2 --batch-size 16 --compute 25ms --json "
            "run.json && loaderscope what-if run.json --set decode.speed=2");
}

TEST(NextCommand, AsksModelAboutOtherCopyModesOfProgram) {
  RunRecord record = make_run_record(4, 40, usual_step);
  record.config.engine.value = "torch";
  record.config.program.command.set({"python", "train.py"});
  EXPECT_EQ(next_with({{"copy", "stream"}}, record),
            "loaderscope run --num-workers 2 --batch-size 16 --compute 25ms --json run.json -- "
            "python train.py && loaderscope what-if run.json --set copy=stream");
}

// The fix is what is tried, whether the run was saved or not.
TEST(NextCommand, TriesTheFixOfASavedRun) {
  RunRecord record = make_run_record(4, 40, usual_step);
  record.config.answer.json.set("my run.json");
  EXPECT_EQ(next_with({{"num-workers", "4"}}, record), std::string(kUsual) + " --try");
}

TEST(NextCommand, AsksForMoreEpochsWhereTheInputEnded) {
  RunRecord record = make_run_record(4, 8, usual_step);
  record.config.measure.epochs.set(2);
  record.config.data.samples.set(96);
  EXPECT_EQ(
      next(record),
      "loaderscope run --samples 96 --num-workers 2 --batch-size 16 --compute 25ms --epochs 25");
}

TEST(NextCommand, SuggestsNothingAfterInterruptedRun) {
  RunRecord record = make_run_record(4, 10, usual_step);
  record.interrupted = true;
  EXPECT_EQ(next(record), "");
  EXPECT_EQ(analyse(record).verdict.withheld_reason,
            "10 steps were measured and a verdict needs 20");
}

TEST(NextCommand, MeasuresLongerWhenTheVerdictIsWithheld) {
  EXPECT_EQ(next(make_run_record(4, 10, usual_step)), std::string(kUsual) + " --steps 100");
}

TEST(NextCommand, SuggestsNothingWhenGpuIsLimit) {
  EXPECT_EQ(next(make_run_record(4, 40, [](std::int64_t) { return make_step_plan(kSecond, {}); })),
            "");
}

TEST(NextCommand, QuotesForTheShell) {
  RunRecord record = make_run_record(4, 40, usual_step);
  Injection injection = parse_injection("read=+5ms@p=0.01");
  record.config.declared.inject.set({injection});
  record.config.data.paths.set({"it's here"});
  record.config.loader.in_order.set(false);
  EXPECT_EQ(next_with({{"copy", "stream"}}, record),
            "loaderscope run --data 'it'\\''s here' --num-workers 2 --batch-size 16 --no-in-order "
            "--compute 25ms --inject read=+5ms@p=0.01 --try");
}

}  // namespace
}  // namespace loaderscope
