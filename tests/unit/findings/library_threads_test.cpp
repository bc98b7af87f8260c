// Threads of a library compute while the thread that makes batches waits for them: they need cores
// as much as workers that compute themselves. In exact virtual time.
#include "analysis/library_threads.h"

#include <gtest/gtest.h>

#include "analysis/contention.h"
#include "analysis/findings/finding_input.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

RunRecord scenario_run(const std::string& scenario) {
  return modelled(
      "memory = pageable\nin-flight = 1\nbatch = 10\nsteps = 200\ncores = 2\ncompute = 25ms\n" +
          scenario,
      2);
}

// `library`: cores that other threads took while batches were made.
RunRecord as_seen(RunRecord record, double library) {
  record = as_seen(std::move(record));
  record.metrics.push_back({"making.library_cores", "1", "", library});
  return record;
}

// A batch takes 28 ms in collate_fn, all of it in threads of a library.
RunRecord tokenizing(double threads) {
  return as_seen(scenario_run("workers = 0\ncost = collate=28ms:sleep\ncost = read=1us:sleep\n"),
                 threads);
}

double rate(const RunRecord& record) { return analyse(record).samples_per_s.mean; }

double need_of_core(const RunRecord& record) {
  return FindingInput(record, analyse(record)).need_of_core();
}

const Finding* find_fix(Analysis& analysis, const RunRecord& record) {
  add_findings(analysis, record);
  return advised_fix(analysis);
}

TEST(LibraryThreads, CountsAsNeedOfCore) {
  EXPECT_NEAR(need_of_core(tokenizing(0)), 0, 0.01);
  EXPECT_NEAR(need_of_core(tokenizing(0.5)), 0.5, 0.01);
  EXPECT_NEAR(need_of_core(tokenizing(1)), 1, 0.01);
  EXPECT_NEAR(need_of_core(tokenizing(2)), 2, 0.01);
}

TEST(LibraryThreads, CountsForComputingStagesFirst) {
  const RunRecord both =
      as_seen(scenario_run("workers = 0\ncost = collate=20ms:sleep\ncost = read=2ms:sleep\n"), 0.5);
  const PerStage<LibraryTime> threads = library_threads(both);
  EXPECT_NEAR(threads[Stage::collate].cpu, 1, 0.01);
  EXPECT_NEAR(threads[Stage::read].cpu, 0, 0.01);
  EXPECT_NEAR(*cpu_of_libraries(both), 200 * 0.020, 0.01);
}

TEST(LibraryThreads, ExcludesFeederOfWorker) {
  const std::string two = "workers = 2\nexecutor = processes\ncost = read=4ms:sleep\n";
  const RunRecord sends = as_seen(scenario_run(two + "cost = transport=8ms\n"), 0.2);
  EXPECT_NEAR(need_of_core(sends), 0, 0.01);
  EXPECT_EQ(cpu_of_libraries(sends), 0);
}

TEST(LibraryThreads, StaysUnknownWithoutCount) {
  const RunRecord declared = scenario_run("workers = 0\ncost = collate=28ms:sleep\n");
  EXPECT_EQ(cpu_of_libraries(declared), std::nullopt);
  EXPECT_NEAR(need_of_core(declared), 0, 0.01);
}

// One thread: the same as a worker that computes itself.
TEST(LibraryThreads, TakesCoresInPrediction) {
  const FittedModel model(tokenizing(1));
  EXPECT_NEAR(model.fitted().samples_per_s / rate(tokenizing(1)), 1, 0.01);
  for (const char* workers : {"1", "2", "4"}) {
    const RunRecord run = scenario_run(
        "executor = processes\ncost = collate=28ms\ncost = read=1us:sleep\nworkers = " +
        std::string(workers) + "\n" + first_workers_costs(tokenizing(1)));
    const Prediction predicted = model.predict({{"num-workers", workers}});
    EXPECT_NEAR(predicted.samples_per_s / rate(run), 1, 0.02) << workers;
  }
}

// Two threads of each worker take both cores: a second worker gives next to nothing.
TEST(LibraryThreads, LeavesNoCoreForFurtherWorkers) {
  const FittedModel model(tokenizing(2));
  EXPECT_NEAR(model.fitted().samples_per_s / rate(tokenizing(2)), 1, 0.01);
  const double one = model.predict({{"num-workers", "1"}}).gain();
  const double four = model.predict({{"num-workers", "4"}}).gain();
  EXPECT_GT(one, 1.5);
  EXPECT_LT(four, 2);
  EXPECT_LT(four, 1.15 * one);
  EXPECT_GT(FittedModel(tokenizing(0)).predict({{"num-workers", "4"}}).gain(), 1.9);
}

TEST(LibraryThreads, KeepsFixBelowCores) {
  const RunRecord record = tokenizing(2);
  Analysis analysis = analyse(record);
  const Finding* fix = find_fix(analysis, record);
  ASSERT_NE(fix, nullptr);
  ASSERT_EQ(fix->changes.front().key, "num-workers");
  EXPECT_EQ(fix->changes.front().value, "1");
}

// Other programs have two of four shares of two cores: the thread waits for a core as long as it
// computes, and its library's threads as well. Alone they need half of the time.
TEST(LibraryThreads, WaitsForCoresLikeThread) {
  RunRecord record = tokenizing(0.5);
  StageStats& collate = record.ranks.front().stages[Stage::collate];
  collate.cpu = collate.wall / 10;
  collate.queued = collate.wall / 10;  // half of the time is theirs, in 80 % it is blocked
  const LibraryTime library = library_threads(record)[Stage::collate];
  EXPECT_NEAR(library.cpu, 0.5 / 0.8, 0.01);
  EXPECT_NEAR(library.queued, 0.5, 0.001);
  EXPECT_NEAR(library.computing(), 0.5, 0.001);
  EXPECT_NEAR(library.waiting(), 0, 0.001);
  EXPECT_NEAR(need_of_core(record), (0.1 + 0.5) / (0.1 + 0.4), 0.01);
}

// A photograph on a crowded machine, as it was measured: three quarters of the time are run-queue
// delay, and threads of PyTorch that stack the batch hide in the rest.
TEST(LibraryThreads, CountsOnCrowdedMachine) {
  RunRecord record = tokenizing(0.0165);
  StageStats& collate = record.ranks.front().stages[Stage::collate];
  collate.cpu = collate.wall * 22 / 100;
  collate.queued = collate.wall * 75 / 100;
  EXPECT_GE(need_of_core(record), kAlwaysComputes);
}

// The CPU time of a tokenizer's threads is not training.
TEST(LibraryThreads, ExcludesLibraryTimeFromTraining) {
  RunRecord record = tokenizing(2);
  record.metrics.push_back({"process.cpu_s", "s", "", 200 * 2 * 0.028});
  EXPECT_EQ(computing_threads(record), 0);
  record = tokenizing(0);
  record.metrics.push_back({"process.cpu_s", "s", "", 200 * 0.025});
  EXPECT_NEAR(computing_threads(record), 1, 0.01);
}

}  // namespace
}  // namespace loaderscope
