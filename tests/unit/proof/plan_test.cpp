// The stages and settings that the proof of a verdict changes.
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
using testing::IsEmpty;

// A record whose GPU waits for `cause`, with `why`.
RunRecord bound_by(Cause cause, Why why = Why::capacity) {
  return make_run_record(4, 40, [=](std::int64_t) {
    StepPlan plan = make_step_plan(25 * kMillisecond, {{cause, 60 * kMillisecond}});
    plan.why[why] = 60 * kMillisecond;
    return plan;
  });
}

Proof plan(const RunRecord& record, Prove asked = Prove::blamed) {
  return plan_proof(asked, record, analyse(record));
}

TEST(ProofPlan, LeavesOutBlamedStage) {
  for (const auto& [cause, stages] : std::vector<std::pair<Cause, Knockouts>>{
           {Cause::read, {Stage::read, Stage::read_decompress}},
           {Cause::decode, {Stage::decode}},
           {Cause::augment, {Stage::augment}},
           {Cause::collate, {Stage::collate}},
           {Cause::transport, {Stage::transport, Stage::transport_recv}},
           {Cause::h2d, {Stage::h2d}}}) {
    const Proof proof = plan(bound_by(cause));
    ASSERT_EQ(proof.cases.size(), 1u) << name_of(cause);
    EXPECT_EQ(proof.cases[0].knockouts, stages) << name_of(cause);
    EXPECT_THAT(proof.cases[0].changes, IsEmpty()) << name_of(cause);
    EXPECT_EQ(proof.reason, "");
  }
}

TEST(ProofPlan, ChangesTheSettingThatIsBlamed) {
  RunRecord record = bound_by(Cause::pin);
  record.config.loader.memory.set(MemoryMode::pin_thread);
  EXPECT_EQ(plan(record).cases.at(0).changes, (Changes{{"memory", "pinned-slots"}}));
  EXPECT_EQ(plan(bound_by(Cause::startup)).cases.at(0).changes,
            (Changes{{"persistent-workers", "true"}}));
  record = bound_by(Cause::transport);
  record.config.loader.executor.set(Executor::processes);
  EXPECT_EQ(plan(record).cases.at(0).changes, (Changes{{"executor", "threads"}}));
}

TEST(ProofPlan, IncreasesPrefetchIfDepthIsWhy) {
  const Proof proof = plan(bound_by(Cause::decode, Why::depth));
  ASSERT_EQ(proof.cases.size(), 1u);
  EXPECT_TRUE(proof.cases[0].knockouts.empty());
  EXPECT_EQ(proof.cases[0].changes, (Changes{{"prefetch-factor", "8"}}));

  RunRecord record = bound_by(Cause::prefetch);
  record.config.loader.task.set(TaskShape::sample);
  record.config.loader.prefetch_depth.set(3);
  EXPECT_EQ(plan(record).cases.at(0).changes, (Changes{{"prefetch-depth", "12"}}));
}

TEST(ProofPlan, SaysWhatCannotBeLeftOut) {
  for (Cause cause : {Cause::contention, Cause::launch, Cause::opaque}) {
    const Proof proof = plan(bound_by(cause));
    ASSERT_EQ(proof.cases.size(), 1u) << name_of(cause);
    EXPECT_EQ(proof.cases[0].name, name_of(cause));
    EXPECT_THAT(proof.cases[0].missing, HasSubstr("it cannot be left out of a run: "));
  }
}

TEST(ProofPlan, LeavesOutAllOfForeignLoader) {
  for (Cause cause : {Cause::opaque, Cause::decode, Cause::transport, Cause::startup}) {
    RunRecord record = bound_by(cause);
    record.engine = "torch";
    const Proof proof = plan(record);
    EXPECT_TRUE(proof.alternates);
    ASSERT_EQ(proof.cases.size(), 1u) << name_of(cause);
    EXPECT_EQ(proof.cases[0].missing, "");
    for (Stage stage : {Stage::read, Stage::opaque, Stage::collate, Stage::pin, Stage::startup})
      EXPECT_TRUE(proof.cases[0].knockouts.has(stage)) << name_of(stage);
    for (Stage stage : {Stage::h2d, Stage::launch, Stage::compute})
      EXPECT_FALSE(proof.cases[0].knockouts.has(stage)) << name_of(stage);
  }
  RunRecord copies = bound_by(Cause::h2d);
  copies.engine = "torch";
  EXPECT_THAT(plan(copies).cases.at(0).missing, HasSubstr("batches are copied to the device"));
  EXPECT_EQ(plan(copies, Prove::all).cases.size(), 2u);
}

TEST(ProofPlan, TriesGpuLimitWithoutLoader) {
  const RunRecord record = make_run_record(4, 40, [](std::int64_t) {
    return make_step_plan(25 * kMillisecond, {{Cause::decode, 1000}});
  });
  const Proof proof = plan(record);
  ASSERT_EQ(proof.cases.size(), 1u);
  for (Stage stage : {Stage::read, Stage::decode, Stage::augment, Stage::collate, Stage::h2d})
    EXPECT_TRUE(proof.cases[0].knockouts.has(stage)) << name_of(stage);
  EXPECT_FALSE(proof.cases[0].knockouts.has(Stage::launch));
}

TEST(ProofPlan, RunsNothingForWithheldVerdict) {
  const Proof proof = plan(make_run_record(0, 10, usual_step));
  EXPECT_THAT(proof.reason, HasSubstr("the verdict is withheld: "));
  EXPECT_THAT(proof.cases, IsEmpty());
  EXPECT_EQ(plan(make_run_record(0, 0, usual_step), Prove::all).reason, "no step was measured");
  RunRecord record = usual_record();
  record.interrupted = true;
  EXPECT_EQ(plan(record, Prove::all).reason, "the run was interrupted");
}

TEST(ProofPlan, PlansFourRowsOfDifferential) {
  const Proof declared = plan(usual_record(), Prove::all);
  ASSERT_EQ(declared.cases.size(), 4u);
  EXPECT_EQ(declared.cases[0].name, "device only");
  EXPECT_EQ(declared.cases[1].name, "memory");
  EXPECT_EQ(declared.cases[2].missing, "declared samples lie in no file");
  EXPECT_EQ(declared.cases[3].missing, "declared samples lie in no file");

  RunRecord real = usual_record();
  real.config.data.source.set("files");
  real.config.data.paths.set({"photos"});
  EXPECT_EQ(plan(real, Prove::all).cases[2].changes, (Changes{{"cache", "warm"}}));
  EXPECT_EQ(plan(real, Prove::all).cases[3].changes, (Changes{{"cache", "cold"}, {"epochs", "1"}}));
  real.config.data.access.set(FileAccess::direct);
  EXPECT_EQ(plan(real, Prove::all).cases[2].missing, "files are read past the page cache");
}

}  // namespace
}  // namespace loaderscope
