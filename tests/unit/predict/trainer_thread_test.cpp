// Predictions for programs that do work on the trainer's own thread, compared with runs of the same
// programs with the changes, in exact virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/model/model_engine.h"
#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/predict.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"
#include "report/findings_text.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

// A program that trains on its own thread: it asks for a batch when it has computed the one before.
RunRecord program(const std::string& scenario) {
  return modelled("executor = processes\nmemory = pageable\nin-flight = 1\nbatch = 10\n" +
                  scenario);
}

RunRecord program_without_workers(const std::string& scenario) {
  return modelled("workers = 0\nmemory = pageable\nin-flight = 1\nbatch = 10\n" + scenario);
}

// A program on a GPU: batches of ten samples of 1 ms, 2 ms until kernels run and 6 ms more until
// all of a step's are launched. Its GPU augments each batch for `augment`.
RunRecord program_on_gpu(const std::string& scenario, Nanos overlapped_launch = 6 * kMillisecond,
                         Nanos augment = 0) {
  RunConfig config;
  parse_scenario("engine = model\nmemory = pageable\nsteps = 200\n" + scenario +
                     (scenario.find("batch =") == scenario.npos ? "batch = 10\n" : ""),
                 "test", config);
  const auto times = [](Nanos wall) {
    StageStats stats;
    stats.add(wall, 0, 0, 0);
    return MeasuredTimes(stats);
  };
  FittedCosts costs;
  FittedCosts::Sample sample;
  sample.bytes = 1000;
  const auto decode = std::find(kSampleStages.begin(), kSampleStages.end(), Stage::decode);
  sample.stages.at(static_cast<std::size_t>(decode - kSampleStages.begin())).waits = kMillisecond;
  FittedCosts::Rank& rank = costs.ranks.emplace_back();
  rank.samples = {sample};
  rank.stages[Stage::launch] = times(2 * kMillisecond);
  if (overlapped_launch > 0) rank.overlapped_work = times(overlapped_launch);
  if (augment > 0) rank.stages[Stage::gpu_augment] = times(augment);
  RunContext context;
  context.model.costs = &costs;
  std::vector<std::string> notes;
  RunRecord seen =
      as_seen(run_model(resolve_to_predict(config, MachineLimits{64}, notes), context));
  seen.config.trainer.device.value = "cuda";
  return seen;
}

double rate(const RunRecord& record) { return analyse(record).samples_per_s.mean; }

// The rate with `changes`, and what becomes of it when they are made.
void expect_kept(RunRecord before, const Changes& changes, const RunRecord& after,
                 double within = 0.01) {
  const RunRecord seen = as_seen(std::move(before));
  const FittedModel model(seen);
  const Analysis measured = analyse(seen);
  EXPECT_NEAR(model.fitted().samples_per_s / measured.samples_per_s.mean, 1, within);
  const ScaledPrediction promise = scale_prediction(measured, model.predict(changes));
  EXPECT_NEAR(promise.rate_after / rate(after), 1, within)
      << promise.rate_after << " predicted, " << rate(after) << " run";
}

// 4 ms to receive and 5 ms to train are 9 ms a step, however many workers there are.
TEST(TrainersThread, AlternatesReceivingAndTraining) {
  const std::string costs =
      "cost = decode=5ms:sleep\ncost = transport.recv=4ms\ncompute = 5ms\nsteps = 200\n";
  const RunRecord eight = program(costs + "workers = 8\n");
  EXPECT_NEAR(rate(eight), 10 / 0.009, 5);
  expect_kept(program(costs + "workers = 1\n"), {{"num-workers", "8"}}, eight);
}

TEST(TrainersThread, AlternatesMakingAndTrainingWithoutWorkers) {
  const std::string costs = "cost = decode=1ms\ncompute = 10ms\nsteps = 200\n";
  EXPECT_NEAR(rate(program_without_workers(costs)), 500, 1);
  expect_kept(program_without_workers(costs), {{"decode.speed", "2"}},
              program_without_workers("cost = decode=500us\ncompute = 10ms\nsteps = 200\n"));
  expect_kept(
      program_without_workers(costs), {{"num-workers", "2"}},
      program(costs + "workers = 2\n" + first_workers_costs(program_without_workers(costs))));
}

// Ten batches an epoch: sixteen workers take sixteen times as long to start as one.
TEST(TrainersThread, StartsOneWorkerAfterAnother) {
  const std::string costs =
      "cost = decode=4ms:sleep\ncost = startup.parent=10ms\ncost = startup=20ms\nsamples = 100\n"
      "compute = 1ms\nsteps = 200\nwarmup = 10\n";
  const auto one = [&] { return program(costs + "workers = 1\n"); };
  for (const char* workers : {"2", "4", "16"}) {
    SCOPED_TRACE(workers);
    expect_kept(one(), {{"num-workers", workers}},
                program(costs + "workers = " + std::string(workers) + "\n"), 0.02);
  }
  expect_kept(one(), {{"persistent-workers", "true"}},
              program(costs + "workers = 1\npersistent-workers = true\n"), 0.02);
}

// Validation between two epochs gives workers no time to make batches ahead.
TEST(TrainersThread, ValidatesBetweenEpochs) {
  const std::string costs =
      "cost = decode=4ms:sleep\nsamples = 100\ncompute = 5ms\ninject = compute=+200ms@every=10\n"
      "steps = 200\nwarmup = 10\n";
  expect_kept(program(costs + "workers = 1\n"), {{"num-workers", "4"}},
              program(costs + "workers = 4\n"));
}

TEST(TrainersThread, IgnoresWorkersBeyondShards) {
  RunRecord stream =
      as_seen(program("cost = decode=5ms:sleep\ncompute = 1ms\nworkers = 2\nsteps = 100\n"));
  stream.metrics.push_back({"data.shards", "1", "", 2});
  const FittedModel model(stream);
  const Prediction eight = model.predict({{"num-workers", "8"}});
  EXPECT_NEAR(eight.gain(), 1, 0.01);
  EXPECT_EQ(eight.config.loader.num_workers, 2);
  ASSERT_FALSE(eight.notes.empty());
  EXPECT_EQ(eight.notes.front(), "the data set has 2 shards: of 8 workers 2 read");
  EXPECT_NEAR(model.predict({{"num-workers", "1"}}).gain(), 0.5, 0.01);
}

TEST(TrainersThread, ReportsExtrapolationOfFix) {
  const RunRecord record =
      as_seen(program("cost = decode=5ms:sleep\ncompute = 1ms\nworkers = 1\nsteps = 100\n"));
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_FALSE(analysis.findings.empty());
  ASSERT_FALSE(analysis.fit_notes.empty());
  EXPECT_EQ(analysis.fit_notes.back().find("extrapolated from 1 to "), 0U)
      << analysis.fit_notes.back();
}

// The cost of first workers, such as receiving their batches, was never measured. The estimate is
// taken from other programs, and the interval covers its error.
TEST(TrainersThread, EstimatesTheFirstWorkers) {
  const RunRecord record =
      as_seen(program_without_workers("cost = decode=5ms\ncompute = 10ms\nsteps = 100\n"));
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->id, "no-workers");
  ASSERT_TRUE(fix->has_figures());
  EXPECT_GT(fix->may_be_off, 0);
  const std::string workers = fix->changes.front().value;
  for (const char* receive : {"1ms", "3ms"}) {
    const double with =
        rate(program("cost = decode=5ms\ncompute = 10ms\nsteps = 100\nworkers = " + workers +
                     "\ncost = transport.recv=" + receive + "\n"));
    EXPECT_GE(with, fix->rate_after * (1 - fix->may_be_off) * 0.99) << receive;
    EXPECT_LE(with, fix->rate_after * (1 + fix->may_be_off) * 1.01) << receive;
  }
}

// Batches take 2.5 ms and steps 1 ms: transport may cost all that workers save.
TEST(TrainersThread, SaysNoNumberWhereWorkersMayGiveNothing) {
  const RunRecord record =
      as_seen(program_without_workers("cost = decode=250us\ncompute = 1ms\nsteps = 100\n"));
  EXPECT_FALSE(FittedModel(record).predict({{"num-workers", "2"}}).is_known());
}

// Batches of 10 ms, and 8 ms for the rest of a step on a GPU. Batches of 80 ms, also on four cores.
TEST(TrainersThread, AdvisesEnoughWorkersForGpu) {
  const auto fix_with = [](const std::string& scenario) {
    const RunRecord record = program_on_gpu("workers = 0\ncompute = 10ms\n" + scenario);
    Analysis analysis = analyse(record);
    add_findings(analysis, record);
    const Finding* fix = advised_fix(analysis);
    return fix != nullptr ? changes_to_text(fix->changes) : "none";
  };
  EXPECT_EQ(fix_with(""), "num-workers=2");  // a batch of 6 MB takes 4 ms more in a worker
  EXPECT_EQ(fix_with("batch = 80\n"), "num-workers=8");
  EXPECT_EQ(fix_with("batch = 80\ncores = 4\n"), "num-workers=7");  // workers wait for cores
}

TEST(TrainersThread, SaysWhatWasNotMeasuredWithoutWorkers) {
  const FittedModel model(as_seen(
      program_without_workers("cost = decode=1ms\ncompute = 10ms\nsteps = 100\nsamples = 100\n")));
  const std::vector<std::string> notes = model.predict({{"num-workers", "2"}}).notes;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("cost=transport.recv=2ms"), std::string::npos) << notes[0];
  const Prediction received = model.predict({{"num-workers", "2"}, {"cost", "transport.recv=2ms"}});
  EXPECT_TRUE(received.is_known()) << "what sending takes is still estimated";
  const Prediction declared = model.predict(
      {{"num-workers", "2"}, {"cost", "transport.recv=2ms"}, {"cost", "transport=1ms"}});
  EXPECT_EQ(declared.may_be_off, 0);
}

// Shared waits of workers cannot be predicted from a run with fewer of them.
TEST(TrainersThread, SaysThatWaitsAreExtrapolated) {
  const auto predict_notes = [](const char* kind) {
    const FittedModel model(as_seen(program("cost = decode=5ms:" + std::string(kind) +
                                            "\ncompute = 1ms\nworkers = 2\nsteps = 100\n")));
    EXPECT_TRUE(model.predict({{"num-workers", "1"}}).notes.empty());
    return model.predict({{"num-workers", "4"}}).notes;
  };
  ASSERT_EQ(predict_notes("sleep").size(), 1U);
  EXPECT_NE(predict_notes("sleep").front().find("100.0 % of the samples' time"), std::string::npos)
      << predict_notes("sleep").front();
  EXPECT_TRUE(predict_notes("cpu").empty());
}

// A measured window within one of several epochs. The prediction for other workers includes their
// start in each epoch.
TEST(TrainersThread, PromisesHoldTheStartsOfAnEpoch) {
  const std::string costs =
      "cost = decode=4ms:sleep\ncost = startup.parent=20ms\nsamples = 1000\ncompute = 1ms\n";
  const RunRecord eight = program(costs + "workers = 8\nsteps = 200\nwarmup = 100\n");
  const RunRecord seen = as_seen(program(costs + "workers = 1\nsteps = 60\nwarmup = 5\n"));
  const ScaledPrediction promise =
      scale_prediction(analyse(seen), FittedModel(seen).predict({{"num-workers", "8"}}));
  EXPECT_NEAR(promise.rate_after / rate(eight), 1, 0.03);
}

// Training that computes on two of two cores, in two threads that wait for each other.
RunRecord program_on_cores(const std::string& scenario, const std::string& workers) {
  RunConfig config;
  parse_scenario("engine = model\nmemory = pageable\nin-flight = 1\nbatch = 10\ncores = 2\n" +
                     scenario + "workers = " + workers + "\n" +
                     (workers == "0" ? "" : "executor = processes\n"),
                 "test", config);
  FittedCosts costs;
  costs.compute_threads = 2;
  RunContext context;
  context.model.costs = &costs;
  std::vector<std::string> notes;
  return run_model(resolve_to_predict(config, MachineLimits{2}, notes), context);
}

// `alone`: ns of a compute without other work on the cores.
RunRecord as_counted(RunRecord record, double alone) {
  double cpu = 0;
  const RankRecord& rank = record.ranks.front();
  for (const StageStats& stage : rank.stages) cpu += static_cast<double>(stage.cpu);
  const StageStats& compute = rank.stages[Stage::compute];
  const auto wall = static_cast<double>(compute.wall);
  cpu += 2 * std::sqrt(alone * static_cast<double>(compute.count) * wall);
  record = as_seen(std::move(record));
  record.metrics.push_back({"process.cpu_s", "s", "", cpu / 1e9});
  return record;
}

constexpr const char* kOnCores = "cost = decode=1ms\ncompute = 10ms\nsteps = 200\n";

// 10 ms to make and 10 ms to train: workers take half of the cores from training and slow it more
// than that. A device would let them double the rate.
TEST(TrainersThread, SlowsTrainingOnCoresByWorkers) {
  const RunRecord seen = as_counted(program_on_cores(kOnCores, "0"), 10e6);
  const Prediction two = FittedModel(seen).predict({{"num-workers", "2"}});
  const std::string with_workers = std::string(kOnCores) + first_workers_costs(seen);
  EXPECT_NEAR(two.samples_per_s / rate(program_on_cores(with_workers, "2")), 1, 0.03);
  EXPECT_LT(two.gain(), 1.3);
}

// The measured compute already includes the worker's use of the cores.
TEST(TrainersThread, FitsTrainingThatSharesCoresWithWorker) {
  RunRecord one = program_on_cores(kOnCores, "1");
  const double measured = rate(one);
  const auto& compute = one.ranks.front().stages[Stage::compute];
  EXPECT_GT(compute.wall, 1.2 * 10e6 * static_cast<double>(compute.count));
  const FittedModel model(as_counted(std::move(one), 10e6));
  EXPECT_NEAR(model.fitted().samples_per_s / measured, 1, 0.03);
  EXPECT_NEAR(
      model.predict({{"num-workers", "3"}}).samples_per_s / rate(program_on_cores(kOnCores, "3")),
      1, 0.05);
  EXPECT_NEAR(model.predict({{"decode.speed", "100"}}).samples_per_s / 1000, 1, 0.05);
}

// Workers that may prefetch more take more of the cores from training.
TEST(TrainersThread, GivesNoNumberForDeeperPrefetchOnSharedCores) {
  const FittedModel model(as_counted(program_on_cores(kOnCores, "3"), 10e6));
  EXPECT_FALSE(model.predict({{"prefetch-factor", "8"}}).is_known());
  EXPECT_TRUE(model.predict({{"in-order", "false"}}).is_known());
}

void expect_predicted(const RunRecord& seen, const Changes& changes, const RunRecord& after) {
  const FittedModel model(seen);
  EXPECT_NEAR(model.fitted().samples_per_s / rate(seen), 1, 0.01);
  EXPECT_NEAR(model.predict(changes).samples_per_s / rate(after), 1, 0.01);
}

TEST(TrainersThread, LaunchesKernelsWhileOthersRun) {
  const std::string alone = "workers = 0\ncompute = 10ms\n";
  const std::string two = "executor = processes\nworkers = 2\ncompute = 10ms\n";
  EXPECT_NEAR(rate(program_on_gpu(alone)), 10 / 0.018, 1);
  expect_predicted(program_on_gpu(alone), {{"num-workers", "2"}},
                   program_on_gpu(two + first_workers_costs(program_on_gpu(alone))));
  expect_predicted(program_on_gpu(two), {{"num-workers", "4"}},
                   program_on_gpu("executor = processes\nworkers = 4\ncompute = 10ms\n"));
}

// The trainer launches for 2 ms, the GPU augments for 5 ms and computes for 25 ms, and the trainer
// waits for that. No worker can take it over.
TEST(TrainersThread, KeepsWhatGpuMakesWithinStep) {
  const std::string program = "executor = processes\ncompute = 25ms\nin-flight = 1\n";
  const auto augmenting = [&](const std::string& workers) {
    return program_on_gpu(program + workers, 6 * kMillisecond, 5 * kMillisecond);
  };
  const RunRecord seen = augmenting("workers = 8\n");
  const Account account = analyse(seen).account;
  EXPECT_NEAR(window_share(account.device.augment, account), 5.0 / 32, 0.01);
  EXPECT_NEAR(window_share(account.compute, account), 25.0 / 32, 0.01);
  expect_predicted(augmenting("workers = 1\n"), {{"num-workers", "8"}}, seen);
  const FittedModel model(seen);
  const Account fitted = model.predict({}).account;
  EXPECT_NEAR(window_share(fitted.device.augment, fitted), 5.0 / 32, 0.01);
  const Prediction without = model.predict({}, kSamplesOfPrediction, {Stage::augment});
  EXPECT_NEAR(without.samples_per_s / rate(program_on_gpu(program + "workers = 8\n")), 1, 0.01);
}

// 2 ms of a step wait for launches, and 8 of 18 ms are launching: six of ten with workers enough.
TEST(TrainersThread, ReportsUncertainLaunchTimeWithMoreWorkers) {
  const RunRecord seen =
      program_on_gpu("executor = processes\nworkers = 1\nprefetch = 4\ncompute = 4ms\n");
  const Prediction four = FittedModel(seen).predict({{"num-workers", "4"}});
  EXPECT_GT(four.may_be_off, 0);
  EXPECT_EQ(FittedModel(seen).predict({{"num-workers", "1"}}).may_be_off, 0);
  Analysis analysis = analyse(seen);
  add_findings(analysis, seen);
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_FALSE(fix->has_figures()) << "a quarter of the rate is more than it gains";
}

TEST(TrainersThread, ReceivesEachTensorOfABatch) {
  RunRecord seen =
      as_seen(program_without_workers("cost = decode=500us\ncompute = 10ms\nsteps = 100\n"));
  const Changes one = {{"num-workers", "1"}};
  EXPECT_GT(FittedModel(seen).predict(one).gain(), 1.2);
  seen.metrics.push_back({"transport.tensors", "1", "", 13});
  EXPECT_LT(FittedModel(seen).predict(one).gain(), 1.05);
}

TEST(TrainersThread, WaitsForGpuInEachStep) {
  const std::string waits = "in-flight = 1\ncompute = 30ms\n";
  const std::string two = "executor = processes\nworkers = 2\n";
  EXPECT_NEAR(rate(program_on_gpu("workers = 0\n" + waits, 0)), 10 / 0.042, 1);
  const RunRecord none = program_on_gpu("workers = 0\n" + waits, 0);
  expect_predicted(none, {{"num-workers", "2"}},
                   program_on_gpu(two + waits + first_workers_costs(none), 0));
}

// The rank that logs the loss takes 36 ms a step, with 4 to receive it and 2 to launch it. The
// other rank takes 30 ms.
TEST(TrainersThread, WaitsForGpuOnOneRankOnly) {
  const std::string two =
      "executor = processes\nworkers = 2\ncost = transport.recv=4ms\ncompute = 30ms\n";
  RunRecord job = program_on_gpu(two + "in-flight = 1\n", 0);
  RunRecord ahead = program_on_gpu(two);
  EXPECT_NEAR(rate(job), 10 / 0.036, 1);
  EXPECT_NEAR(rate(ahead), 10 / 0.030, 1);
  job.ranks.push_back(std::move(ahead.ranks[0]));
  job.config.trainer.ranks.set(2);
  EXPECT_NEAR(FittedModel(job).fitted().samples_per_s, 10 / 0.036 + 10 / 0.030, 2);
}

}  // namespace
}  // namespace loaderscope
