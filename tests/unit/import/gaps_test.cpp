// The causes that a GPU's gaps are booked to, on traces whose answer is known.
#include <gtest/gtest.h>

#include "analysis/gap_kinds.h"
#include "engine/import/trace_record.h"
#include "loaderscope/analysis.h"
#include "unit/import/traces.h"

namespace loaderscope::traces {
namespace {

PerCause<Nanos> analyse_stall(const TraceBuilder& trace) {
  return analyse(make_trace_record(trace.run, 0)).account.stall;
}

double fact(const RunRecord& record, GapKind kind, GapFact what) {
  return value_of(record.metrics, metric_name(kind, what)).value_or(-1);
}

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

// The thread waits for its batch from 10 to 40, launches at 42, and the kernel begins at 43.
TraceBuilder loader_wait() {
  return TraceBuilder()
      .step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::loader_wait, 10, 40)
      .host(HostKind::call, 42, 42.5, 0, 5)
      .gpu(GpuKind::kernel, 43, 100, 5);
}

TEST(TraceGaps, BooksLoaderWaitAsOpaqueAndRestAsLaunch) {
  const RunRecord record = make_trace_record(loader_wait().run, 0);
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

TEST(TraceGaps, IgnoresLoaderWaitDuringKernel) {
  TraceBuilder trace;
  trace.step(0, 100).gpu(GpuKind::kernel, 0, 100).host(HostKind::loader_wait, 10, 90);
  EXPECT_EQ(analyse(make_trace_record(trace.run, 0)).account.compute, ms(100));
}

TEST(TraceGaps, BooksUnhiddenCopiesByTheirMemory) {
  TraceBuilder trace;
  trace.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .gpu(GpuKind::from_pageable, 5, 30)
      .gpu(GpuKind::from_pinned, 30, 50)
      .gpu(GpuKind::kernel, 50, 100);
  const RunRecord record = make_trace_record(trace.run, 0);
  EXPECT_EQ(analyse(record).account.stall[Cause::h2d], ms(40));
  EXPECT_DOUBLE_EQ(fact(record, GapKind::pageable_copy, GapFact::seconds), 0.020);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::copy, GapFact::seconds), 0.020);
}

TEST(TraceGaps, CountsStagingOfPageableCopyAsCopy) {
  TraceBuilder trace;
  trace.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::call, 10, 40, 0, 3)
      .gpu(GpuKind::from_pageable, 25, 40, 3)
      .gpu(GpuKind::kernel, 40, 100);
  EXPECT_EQ(analyse_stall(trace)[Cause::h2d], ms(30));
}

// The GPU is drained at 10; the host comes out of its wait at 12, and launches at 20.
TEST(TraceGaps, BooksHostWorkAfterGpuWaitAsSynchronous) {
  TraceBuilder trace;
  trace.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::synchronous, 5, 12)
      .host(HostKind::operation, 12, 20)
      .host(HostKind::call, 20, 21, 0, 9)
      .gpu(GpuKind::kernel, 22, 100, 9);
  const RunRecord record = make_trace_record(trace.run, 0);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::synchronous, GapFact::seconds), 0.010);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::launch, GapFact::seconds), 0.002);
}

TEST(TraceGaps, DistinguishesLockWait) {
  TraceBuilder trace;
  trace.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::lock_wait, 10, 25)
      .host(HostKind::call, 25, 26, 0, 9)
      .gpu(GpuKind::kernel, 26, 100, 9);
  EXPECT_DOUBLE_EQ(fact(make_trace_record(trace.run, 0), GapKind::lock, GapFact::seconds), 0.015);
}

// The trace contains nothing about 30 ms. With a loader's waits, they would be the host's own.
TEST(TraceGaps, BooksUnrecordedTimeAsOther) {
  TraceBuilder trace;
  trace.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::call, 40, 41, 0, 9)
      .gpu(GpuKind::kernel, 42, 100, 9);
  EXPECT_EQ(analyse_stall(trace)[Cause::other], ms(30));
  EXPECT_EQ(analyse_stall(trace)[Cause::launch], ms(2));
}

TEST(TraceGaps, CountsLoaderWaitOfAnotherThread) {
  TraceBuilder trace;
  trace.step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::loader_wait, 0, 40, 1)
      .host(HostKind::call, 42, 43, 0, 9)
      .gpu(GpuKind::kernel, 44, 100, 9);
  EXPECT_EQ(analyse_stall(trace)[Cause::opaque], ms(30));
}

TEST(TraceGaps, ExcludesTracingTime) {
  TraceBuilder trace = loader_wait();
  trace.run.processes[0].overhead = {{ms(5), ms(20)}};
  const Account account = analyse(make_trace_record(trace.run, 0)).account;
  EXPECT_EQ(account.window, ms(90));
  EXPECT_EQ(account.compute, ms(67));
  EXPECT_EQ(account.stall[Cause::opaque], ms(20));
}

TEST(TraceGaps, SplitsStepsAtAsksWithoutMarks) {
  TraceBuilder trace;
  for (int k = 0; k < 3; ++k) {
    const double at = 100 * k;
    trace.host(HostKind::loader_wait, at, at + 20)
        .host(HostKind::call, at + 20, at + 20.1, 0, static_cast<std::uint32_t>(k + 1))
        .gpu(GpuKind::kernel, at + 20.1, at + 90, static_cast<std::uint32_t>(k + 1));
  }
  const RunRecord record = make_trace_record(trace.run, 16);
  ASSERT_EQ(record.ranks.size(), 1U);
  EXPECT_EQ(record.ranks[0].steps(), 3);
  EXPECT_EQ(record.ranks[0].samples, 48);
  // The wait before the first kernel counts, too. The last step ends with its kernel.
  EXPECT_DOUBLE_EQ(fact(record, GapKind::loader, GapFact::seconds), 0.060);
  EXPECT_EQ(record.ranks[0].window(), ms(290));
}

TEST(TraceGaps, TreatsTraceWithoutStepsAsOneStep) {
  TraceBuilder trace;
  trace.gpu(GpuKind::kernel, 0, 10).gpu(GpuKind::kernel, 15, 20);
  const RunRecord record = make_trace_record(trace.run, 0);
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.steps, 1);
  ASSERT_TRUE(analysis.verdict.withheld_reason);
  EXPECT_NE(analysis.verdict.withheld_reason->find("--step-range"), std::string::npos);
  EXPECT_EQ(fact(record, GapKind::unknown, GapFact::step), -1);
}

TEST(TraceGaps, CountsCopyWithinGpuAsWork) {
  TraceBuilder trace;
  trace.gpu(GpuKind::kernel, 0, 10).gpu(GpuKind::memory, 10, 15).gpu(GpuKind::collective, 15, 20);
  const RunRecord record = make_trace_record(trace.run, 0);
  EXPECT_EQ(analyse(record).account.compute, ms(20));
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.kernels_s"), 0.015);
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.only_collective_s"), 0.005);
}

// A piece of work is kept in ranges of four seconds at most.
TEST(TraceGaps, KeepsLongWorkWhole) {
  TraceBuilder trace;
  trace.step(0, 30'000).gpu(GpuKind::kernel, 0, 10'000).gpu(GpuKind::kernel, 9'000, 20'000);
  trace.gpu(GpuKind::from_pinned, 20'000, 30'000).gpu(GpuKind::collective, 19'000, 20'500);
  const RunRecord record = make_trace_record(trace.run, 0);
  EXPECT_EQ(analyse(record).account.compute, ms(20'500));
  EXPECT_EQ(analyse(record).account.stall[Cause::h2d], ms(9'500));
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.kernels_s"), 20.5);
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.only_collective_s"), 0.5);
}

// The host launches nothing for 40 ms: 15 ms of a read, 10 ms of a poll, 5 ms without a core.
TraceBuilder system_calls() {
  return TraceBuilder()
      .step(0, 100)
      .gpu(GpuKind::kernel, 0, 10)
      .host(HostKind::operation, 10, 50)
      .host(HostKind::file_read, 10, 25)
      .host(HostKind::system_wait, 25, 35)
      .host(HostKind::off_core, 30, 40)
      .host(HostKind::call, 50, 51, 0, 9)
      .gpu(GpuKind::kernel, 51, 100, 9);
}

TEST(TraceGaps, DistinguishesSystemCalls) {
  const RunRecord record =
      make_trace_record(system_calls().host(HostKind::loader_wait, 60, 61).run, 0);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::file_read, GapFact::seconds), 0.015);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::system_wait, GapFact::seconds), 0.010);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::off_core, GapFact::seconds), 0.005);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::launch, GapFact::seconds), 0.011);
  EXPECT_EQ(analyse(record).account.stall[Cause::launch], ms(41));
}

// Each of these calls may then be the DataLoader's.
TEST(TraceGaps, BooksSystemCallsAsOtherWithoutLoaderWaits) {
  const Account account = analyse(make_trace_record(system_calls().run, 0)).account;
  EXPECT_EQ(account.stall[Cause::other], ms(30));
  EXPECT_EQ(account.stall[Cause::launch], ms(11));
}

// Both exchange until 70. The first comes at 20; the second is in its DataLoader until 50, and
// computes until 60.
TraceBuilder late_rank() {
  TraceBuilder trace;
  trace.step(0, 100).gpu(GpuKind::kernel, 0, 20).collective(20, 70).gpu(GpuKind::kernel, 70, 100);
  trace.host(HostKind::loader_wait, 0, 5);
  trace.another().step(0, 100).gpu(GpuKind::kernel, 0, 10).host(HostKind::loader_wait, 10, 50);
  trace.gpu(GpuKind::kernel, 50, 60).collective(60, 70).gpu(GpuKind::kernel, 70, 100);
  return trace;
}

TEST(TraceGaps, BlamesLoaderOfLastRankForCollective) {
  const RunRecord record = make_trace_record(late_rank().run, 0);
  ASSERT_EQ(record.ranks.size(), 2U);
  // The other rank comes after 40 ms and is in its loader for 30 of them. The mean is half of 30.
  EXPECT_DOUBLE_EQ(fact(record, GapKind::another_rank, GapFact::seconds), 0.015);
  EXPECT_DOUBLE_EQ(fact(record, GapKind::another_rank, GapFact::at), 0.020);
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gpu.waits_for_ranks_s"), 0.020);
  const Analysis analysis = analyse(record);
  EXPECT_EQ(analysis.rank_accounts[0].stall[Cause::opaque], ms(30));
  EXPECT_EQ(analysis.rank_accounts[0].compute, ms(70));
  EXPECT_EQ(analysis.rank_accounts[1].stall[Cause::opaque], ms(40));
  EXPECT_EQ(analysis.account.window, ms(100));
}

TEST(TraceGaps, ComparesNoRanksWhoseClocksDiffer) {
  TraceBuilder trace = late_rank();
  trace.run.processes.back().shift(ms(3));
  trace.run.gpus_used.back().shift(ms(3));
  const RunRecord record = make_trace_record(trace.run, 0);
  EXPECT_EQ(fact(record, GapKind::another_rank, GapFact::seconds), -1);
  EXPECT_FALSE(value_of(record.metrics, "gpu.waits_for_ranks_s"));
  EXPECT_NE(joined(record.notes).find("clocks do not agree"), std::string::npos);
}

TEST(TraceGaps, ComparesNoRanksWithoutCollectives) {
  TraceBuilder trace;
  trace.gpu(GpuKind::kernel, 0, 20).another().gpu(GpuKind::kernel, 0, 20);
  const RunRecord record = make_trace_record(trace.run, 0);
  EXPECT_FALSE(value_of(record.metrics, "gpu.waits_for_ranks_s"));
  EXPECT_EQ(joined(record.notes).find("collectives"), std::string::npos);
}

TEST(TraceGaps, BooksAllButWaitsAsTrainingWithoutGpu) {
  TraceBuilder trace;
  trace.run.gpus_used.clear();
  trace.host(HostKind::loader_wait, 0, 20).host(HostKind::operation, 20, 100);
  trace.host(HostKind::loader_wait, 100, 110).host(HostKind::operation, 110, 200);
  const RunRecord record = make_trace_record(trace.run, 0);
  const Account account = analyse(record).account;
  EXPECT_EQ(account.stall[Cause::opaque], ms(30));
  EXPECT_EQ(account.compute, account.window - ms(30));
}

}  // namespace
}  // namespace loaderscope::traces
