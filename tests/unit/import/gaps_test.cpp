// What a GPU's gaps are booked to, on traces whose answer is known.
#include <gtest/gtest.h>

#include "analysis/gap_kinds.h"
#include "engine/import/trace_record.h"
#include "loaderscope/analysis.h"
#include "unit/import/traces.h"

namespace loaderscope::traces {
namespace {

PerCause<Nanos> stall_of(const Told& told) { return analyse(record_of(told.run, 0)).account.stall; }

double fact(const RunRecord& record, GapKind kind, GapFact what) {
  return value_of(record.metrics, metric_name(kind, what)).value_or(-1);
}

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

// The thread waits for its batch from 10 to 40, launches at 42, and the kernel begins at 43.
Told loader_wait() {
  return Told()
      .step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::loader_wait, 10, 40)
      .host(HostKind::call, 42, 42.5, 0, 5)
      .gpu(GpuKind::kernel, 43, 100, 5);
}

TEST(TraceGaps, AWaitForTheLoaderIsOpaqueAndTheRestOfTheGapIsLaunch) {
  const RunRecord record = record_of(loader_wait().run, 0);
  const Account account = analyse(record).account;
  EXPECT_EQ(account.window, ms(100));
  EXPECT_EQ(account.compute, ms(67));
  EXPECT_EQ(account.stall[Cause::opaque], ms(30));
  EXPECT_EQ(account.stall[Cause::launch], ms(3));
  EXPECT_EQ(account.stall[Cause::other], 0);
  EXPECT_EQ(fact(record, GapKind::loader, GapFact::gaps), 1);
  EXPECT_EQ(fact(record, GapKind::loader, GapFact::steps), 1);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::loader, GapFact::at), 0.010);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::loader, GapFact::longest), 0.030);
}

TEST(TraceGaps, AWaitThatTheGpuDoesNotNoticeCostsNothing) {
  Told told;
  told.step(0, 100).gpu(GpuKind::kernel, 0, 100).host(HostKind::loader_wait, 10, 90);
  EXPECT_EQ(analyse(record_of(told.run, 0)).account.compute, ms(100));
}

TEST(TraceGaps, CopiesThatNothingHidesAreCopiesByTheirMemory) {
  Told told;
  told.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .gpu(GpuKind::from_pageable, 5, 30)
      .gpu(GpuKind::from_pinned, 30, 50)
      .gpu(GpuKind::kernel, 50, 100);
  const RunRecord record = record_of(told.run, 0);
  EXPECT_EQ(analyse(record).account.stall[Cause::h2d], ms(40));
  EXPECT_DOUBLE_EQ(fact(record, GapKind::pageable_copy, GapFact::seconds), 0.020);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::copy, GapFact::seconds), 0.020);
}

TEST(TraceGaps, TheHostStagesACopyFromPageableMemoryBeforeTheGpuBegins) {
  Told told;
  told.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::call, 10, 40, 0, 3)
      .gpu(GpuKind::from_pageable, 25, 40, 3)
      .gpu(GpuKind::kernel, 40, 100);
  EXPECT_EQ(stall_of(told)[Cause::h2d], ms(30));
}

// The GPU is drained at 10; the host comes out of its wait at 12, and launches at 20.
TEST(TraceGaps, WhatTheHostDoesOnceItHasWaitedForTheGpuIsTheWaitsFault) {
  Told told;
  told.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::synchronous, 5, 12)
      .host(HostKind::operation, 12, 20)
      .host(HostKind::call, 20, 21, 0, 9)
      .gpu(GpuKind::kernel, 22, 100, 9);
  const RunRecord record = record_of(told.run, 0);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::synchronous, GapFact::seconds), 0.010);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::launch, GapFact::seconds), 0.002);
}

TEST(TraceGaps, ALockIsToldFromTheRest) {
  Told told;
  told.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::lock_wait, 10, 25)
      .host(HostKind::call, 25, 26, 0, 9)
      .gpu(GpuKind::kernel, 26, 100, 9);
  EXPECT_DOUBLE_EQ(fact(record_of(told.run, 0), GapKind::lock, GapFact::seconds), 0.015);
}

// Of 30 ms nothing is told; had a loader's waits been recorded, they would be the host's own.
TEST(TraceGaps, WhatIsNotRecordedIsNotKnown) {
  Told told;
  told.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::call, 40, 41, 0, 9)
      .gpu(GpuKind::kernel, 42, 100, 9);
  EXPECT_EQ(stall_of(told)[Cause::other], ms(30));
  EXPECT_EQ(stall_of(told)[Cause::launch], ms(2));
}

TEST(TraceGaps, AnotherThreadOfTheProcessMayWaitForTheLoader) {
  Told told;
  told.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::loader_wait, 0, 40, 1)
      .host(HostKind::call, 42, 43, 0, 9)
      .gpu(GpuKind::kernel, 44, 100, 9);
  EXPECT_EQ(stall_of(told)[Cause::opaque], ms(30));
}

TEST(TraceGaps, TimeOfTheTracingIsNoTimeOfTheRun) {
  Told told = loader_wait();
  told.run.processes[0].overhead = {{ms(5), ms(20)}};
  const Account account = analyse(record_of(told.run, 0)).account;
  EXPECT_EQ(account.window, ms(90));
  EXPECT_EQ(account.compute, ms(67));
  EXPECT_EQ(account.stall[Cause::opaque], ms(20));
}

TEST(TraceGaps, WithoutMarksAStepGoesFromOneAskToTheNext) {
  Told told;
  for (int k = 0; k < 3; ++k) {
    const double at = 100 * k;
    told.host(HostKind::loader_wait, at, at + 20)
        .host(HostKind::call, at + 20, at + 20.1, 0, static_cast<std::uint32_t>(k + 1))
        .gpu(GpuKind::kernel, at + 20.1, at + 90, static_cast<std::uint32_t>(k + 1));
  }
  const RunRecord record = record_of(told.run, 16);
  ASSERT_EQ(record.ranks.size(), 1U);
  EXPECT_EQ(record.ranks[0].steps(), 3);
  EXPECT_EQ(record.ranks[0].samples, 48);
  // Before the first kernel too; the last step ends with its kernel.
  EXPECT_DOUBLE_EQ(fact(record, GapKind::loader, GapFact::seconds), 0.060);
  EXPECT_EQ(record.ranks[0].window(), ms(290));
}

TEST(TraceGaps, WithoutStepsAllOfItIsOneAndThereIsNoVerdict) {
  Told told;
  told.gpu(GpuKind::kernel, 0, 10).gpu(GpuKind::kernel, 15, 20);
  const RunRecord record = record_of(told.run, 0);
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.steps, 1);
  ASSERT_TRUE(analysis.verdict.withheld_reason);
  EXPECT_NE(analysis.verdict.withheld_reason->find("--step-range"), std::string::npos);
  EXPECT_EQ(fact(record, GapKind::unknown, GapFact::step), -1);
}

TEST(TraceGaps, WhatIsCopiedWithinTheGpuIsItsWorkAndNoKernel) {
  Told told;
  told.gpu(GpuKind::kernel, 0, 10).gpu(GpuKind::memory, 10, 15).gpu(GpuKind::collective, 15, 20);
  const RunRecord record = record_of(told.run, 0);
  EXPECT_EQ(analyse(record).account.compute, ms(20));
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.kernels_s"), 0.015);
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.only_collective_s"), 0.005);
}

// A piece of work is kept in ranges of four seconds at most.
TEST(TraceGaps, WorkThatTakesLongIsWhole) {
  Told told;
  told.step(0, 30'000).gpu(GpuKind::kernel, 0, 10'000).gpu(GpuKind::kernel, 9'000, 20'000);
  told.gpu(GpuKind::from_pinned, 20'000, 30'000).gpu(GpuKind::collective, 19'000, 20'500);
  const RunRecord record = record_of(told.run, 0);
  EXPECT_EQ(analyse(record).account.compute, ms(20'500));
  EXPECT_EQ(analyse(record).account.stall[Cause::h2d], ms(9'500));
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.kernels_s"), 20.5);
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.only_collective_s"), 0.5);
}

// Of 40 ms in which nothing is launched: 15 of a read, 10 of a poll, 5 without a core.
Told system_calls() {
  return Told()
      .step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::operation, 10, 50)
      .host(HostKind::file_read, 10, 25)
      .host(HostKind::system_wait, 25, 35)
      .host(HostKind::off_core, 30, 40)
      .host(HostKind::call, 50, 51, 0, 9)
      .gpu(GpuKind::kernel, 51, 100, 9);
}

TEST(TraceGaps, CallsOfTheOperatingSystemAreToldApart) {
  const RunRecord record = record_of(system_calls().host(HostKind::loader_wait, 60, 61).run, 0);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::file_read, GapFact::seconds), 0.015);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::system_wait, GapFact::seconds), 0.010);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::off_core, GapFact::seconds), 0.005);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::launch, GapFact::seconds), 0.011);
  EXPECT_EQ(analyse(record).account.stall[Cause::launch], ms(41));
}

// Then each of them may be the DataLoader's.
TEST(TraceGaps, WithoutTheLoadersWaitsTheyAreNotTheTrainersOwn) {
  const Account account = analyse(record_of(system_calls().run, 0)).account;
  EXPECT_EQ(account.stall[Cause::other], ms(30));
  EXPECT_EQ(account.stall[Cause::launch], ms(11));
}

// Both exchange until 70. The first comes at 20; the second is in its DataLoader until 50, and
// computes until 60.
Told late_rank() {
  Told told;
  told.step(0, 100).gpu(GpuKind::kernel, 0, 20).collective(20, 70).gpu(GpuKind::kernel, 70, 100);
  told.host(HostKind::loader_wait, 0, 5);
  told.another().step(0, 100).gpu(GpuKind::kernel, 0, 10).host(HostKind::loader_wait, 10, 50);
  told.gpu(GpuKind::kernel, 50, 60).collective(60, 70).gpu(GpuKind::kernel, 70, 100);
  return told;
}

TEST(TraceGaps, ACollectiveWaitsForTheLoaderOfTheRankThatComesLast) {
  const RunRecord record = record_of(late_rank().run, 0);
  ASSERT_EQ(record.ranks.size(), 2U);
  // Of the 40 ms until the other comes, it is in its loader for 30: half of that is the mean.
  EXPECT_DOUBLE_EQ(fact(record, GapKind::another_rank, GapFact::seconds), 0.015);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::another_rank, GapFact::at), 0.020);
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.waits_for_ranks_s"), 0.020);
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.rank_accounts[0].stall[Cause::opaque], ms(30));
  EXPECT_EQ(analysis.rank_accounts[0].compute, ms(70));
  EXPECT_EQ(analysis.rank_accounts[1].stall[Cause::opaque], ms(40));
  EXPECT_EQ(analysis.account.window, ms(100));
}

TEST(TraceGaps, RanksWhoseClocksDifferAreNotHeldAgainstEachOther) {
  Told told = late_rank();
  told.run.processes.back().shift(ms(3));
  told.run.gpus_used.back().shift(ms(3));
  const RunRecord record = record_of(told.run, 0);
  EXPECT_EQ(fact(record, GapKind::another_rank, GapFact::seconds), -1);
  EXPECT_FALSE(value_of(record.metrics, "gpu.waits_for_ranks_s"));
  EXPECT_NE(joined(record.notes).find("clocks do not agree"), std::string::npos);
}

TEST(TraceGaps, RanksWithoutCollectivesTellNothingOfOneAnother) {
  Told told;
  told.gpu(GpuKind::kernel, 0, 20).another().gpu(GpuKind::kernel, 0, 20);
  const RunRecord record = record_of(told.run, 0);
  EXPECT_FALSE(value_of(record.metrics, "gpu.waits_for_ranks_s"));
  EXPECT_EQ(joined(record.notes).find("collectives"), std::string::npos);
}

TEST(TraceGaps, WithoutAGpuAllThatIsNoWaitIsTraining) {
  Told told;
  told.run.gpus_used.clear();
  told.host(HostKind::loader_wait, 0, 20).host(HostKind::operation, 20, 100);
  told.host(HostKind::loader_wait, 100, 110).host(HostKind::operation, 110, 200);
  const RunRecord record = record_of(told.run, 0);
  const Account account = analyse(record).account;
  EXPECT_EQ(account.stall[Cause::opaque], ms(30));
  EXPECT_EQ(account.compute, account.window - ms(30));
}

}  // namespace
}  // namespace loaderscope::traces
