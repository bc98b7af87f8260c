// The model of a record: what it predicts of declared and of measured runs.
#include "predict/fitted_model.h"

#include <gtest/gtest.h>

#include <functional>

#include "engine/model/model_engine.h"
#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

RunRecord run(std::string_view scenario, double cores = 64) {
  RunConfig config;
  parse_scenario(std::string("engine = model\n") + std::string(scenario), "test", config);
  std::vector<std::string> notes;
  return run_model(resolve_to_predict(config, MachineLimits{cores}, notes), {});
}

// Makes a record like one of real data: costs are measured and not declared.
RunRecord as_measured(RunRecord record) {
  record.engine = "native";
  record.config.engine.value = "native";
  record.config.data.source.value = "files";
  record.config.data.paths.value = {"photos"};
  record.config.data.paths.set({"/data"});
  record.config.data.samples.value = 100'000;
  record.config.declared.cost = {};
  record.config.data.stored_bytes = {};
  record.config.declared.storage_latency = {};
  record.config.declared.storage_bandwidth = {};
  return record;
}

constexpr const char* kVaried =
    "cost = read=lognormal:3ms:0.5\ncost = decode=lognormal:8ms:0.5\ncost = collate=1ms\n"
    "compute = 25ms\nworkers = 2\nbatch = 8\nsteps = 200\nwarmup = 10\n";

TEST(FittedModel, PredictsDeclaredRunExactly) {
  const RunRecord record = run(kVaried);
  const Prediction base = FittedModel(record).predict({});
  EXPECT_EQ(base.account.stall, analyse(record).account.stall);
  EXPECT_EQ(base.account.window, analyse(record).account.window);
}

TEST(FittedModel, ReportsDeclaredSettingsWithoutEffect) {
  RunConfig config;
  parse_scenario(std::string(kVaried) + "sync-ranks = true\n", "test", config);
  const FittedModel model(config, MachineLimits{4});
  ASSERT_EQ(model.notes().size(), 1U);
  EXPECT_EQ(model.notes().front(), "sync-ranks has no effect: there is one rank");
}

TEST(FittedModel, RejectsTraces) {
  RunRecord record = run(kVaried);
  record.engine = record.config.engine.value = "import";
  for (const std::function<void()>& doing : std::vector<std::function<void()>>{
           [&] { (void)FittedModel(record); }, [&] { (void)rerun_settings(record.config, {}); }}) {
    try {
      doing();
      ADD_FAILURE() << "it was taken";
    } catch (const RunError& error) {
      EXPECT_NE(std::string(error.what()).find("the result is of a trace"), std::string::npos);
    }
  }
}

TEST(FittedModel, PredictsADeclaredChangeExactly) {
  const Prediction predicted = FittedModel(run(kVaried)).predict({{"decode.speed", "2"}});
  std::string faster = kVaried;
  faster.replace(faster.find("8ms"), 3, "4ms");
  EXPECT_EQ(predicted.account.stall, analyse(run(faster)).account.stall);
}

TEST(FittedModel, DrawsWholeRowsOfAMeasuredRun) {
  const RunRecord record = as_measured(run(kVaried));
  const FittedModel model(record);
  const GoodnessOfFit fit = goodness_of_fit(analyse(record), model.fitted());
  EXPECT_LT(std::abs(fit.rate_error), 0.02) << fit.sentence();
  EXPECT_LT(std::abs(fit.worst_share), 0.02) << fit.sentence();

  std::string more = kVaried;
  more.replace(more.find("workers = 2"), 11, "workers = 4");
  const double measured = analyse(run(more)).samples_per_s.mean;
  EXPECT_NEAR(model.predict({{"workers", "4"}}).samples_per_s / measured, 1, 0.03);
}

TEST(FittedModel, RepeatsPredictionExactly) {
  const RunRecord record = as_measured(run(kVaried));
  const Account one = FittedModel(record).predict({{"workers", "3"}}).account;
  EXPECT_EQ(FittedModel(record).predict({{"workers", "3"}}).account.stall, one.stall);
}

TEST(FittedModel, SharesMeasuredCpuTimeAmongTheCores) {
  const RunRecord record = as_measured(run(
      "cost = decode=10ms\nworkers = 2\nbatch = 8\nsteps = 100\ncores = 2\ncompute = 1ms\n", 2));
  const FittedModel model(record);
  const double base = model.predict({}).samples_per_s;
  EXPECT_NEAR(model.predict({{"workers", "4"}}).samples_per_s / base, 1, 0.03);  // 2 cores
  EXPECT_NEAR(model.predict({{"workers", "4"}, {"cores", "4"}}).samples_per_s / base, 2, 0.05);
  EXPECT_NEAR(model.predict({{"decode.speed", "2"}}).samples_per_s / base, 2, 0.05);
}

// The worker of a rank needs 0.8 of a core: six workers need 4.8, and two need 1.6.
TEST(FittedModel, SharesCoresOfEachHostAmongItsRanks) {
  RunRecord record =
      run("ranks = 8\nsync-ranks = true\nbatch = 4\nworkers = 1\nsteps = 100\ncompute = 10ms\n"
          "cost = decode=2ms\n");
  record.hosts.resize(2);
  const auto busy_with = [&](std::int64_t ranks, double cores, double others, Changes changes) {
    record.hosts[0].ranks = ranks;
    record.hosts[1].ranks = 8 - ranks;
    record.hosts[0].machine.cores = cores;
    record.hosts[1].machine.cores = others;
    return FittedModel(record).predict(changes).busy();
  };
  EXPECT_GT(busy_with(6, 5, 2, {}), 0.99);
  EXPECT_NEAR(busy_with(6, 3, 8, {}), 3 / 4.8, 0.01);
  EXPECT_NEAR(busy_with(6, 8, 1, {}), 1 / 1.6, 0.01);
  EXPECT_NEAR(busy_with(2, 8, 3, {}), 3 / 4.8, 0.01);
  EXPECT_GT(busy_with(6, 3, 8, {{"ranks", "6"}}), 0.99);  // three on each
  EXPECT_NEAR(busy_with(6, 16, 1, {{"cores", "2"}}), 2 / 4.8, 0.01);
}

// Measured times include the injected delay. It is not added again, and a speed applies to all of
// it.
TEST(FittedModel, CountsInjectedDelaysOnce) {
  const RunRecord record = as_measured(
      run("cost = read=1ms\ninject = read=+7ms\nworkers = 2\nbatch = 8\nsteps = 100\n"));
  const FittedModel model(record);
  const double base = model.predict({}).samples_per_s;
  EXPECT_NEAR(base / analyse(record).samples_per_s.mean, 1, 0.02);
  EXPECT_NEAR(model.predict({{"read.speed", "4"}}).samples_per_s / base, 4, 0.05);
}

TEST(FittedModel, ReportsInseparableLatencyAndBandwidth) {
  const RunRecord record = as_measured(run(
      "stored-bytes = uniform:1MB:3MB\ncost = read=1ms\nworkers = 4\nbatch = 8\nsteps = 100\n"));
  EXPECT_NE(FittedModel(record).notes().front().find("cannot be separated"), std::string::npos);
}

TEST(FittedModel, ReadsBeyondThoseMeasuredShareTheBandwidth) {
  const RunRecord record = as_measured(
      run("stored-bytes = lognormal:1MB:0.5\ncost = read=100MB/s\nworkers = 4\nbatch = 8\n"
          "steps = 100\n"));
  const FittedModel model(record);
  ASSERT_EQ(model.notes().size(), 1U);
  EXPECT_NE(model.notes().front().find("100 MB/s each with 4 at once"), std::string::npos)
      << model.notes().front();
  const double base = model.predict({}).samples_per_s;
  EXPECT_NEAR(model.predict({{"workers", "8"}}).samples_per_s / base, 1, 0.05);
  EXPECT_NEAR(model.predict({{"workers", "2"}}).samples_per_s / base, 0.5, 0.05);
}

// A load from outside makes threads wait for a core where those of the run alone would not.
TEST(FittedModel, FindsTheLoadOfOtherProcesses) {
  RunRecord record =
      as_measured(run("cost = decode=10ms\nworkers = 6\nbatch = 8\nsteps = 100\ncores = 2\n", 2));
  for (RankRecord& rank : record.ranks) {
    rank.reservoir.resize(rank.reservoir.size() / 2);
  }
  EXPECT_TRUE(FittedModel(record).notes().empty());  // all of the waiting is its own
  record.config.declared.cores.set(64);
  const FittedModel model(record);
  ASSERT_EQ(model.notes().size(), 1U);
  EXPECT_NE(model.notes().front().find("other processes took cores"), std::string::npos);
  EXPECT_NEAR(model.predict({}).samples_per_s / analyse(record).samples_per_s.mean, 1, 0.05);
}

// Other processes that took no CPU time cannot have delayed the workers.
TEST(FittedModel, LimitsOtherLoadToCountedCpuTime) {
  RunRecord record =
      as_measured(run("cost = decode=10ms\nworkers = 6\nbatch = 8\nsteps = 100\ncores = 2\n", 2));
  record.config.declared.cores.set(64);
  record.metrics.push_back({"host.other_cpu_s", "s", "", 0});
  EXPECT_TRUE(FittedModel(record).notes().empty());
}

// Workers that started once before the window start again in each short epoch.
TEST(FittedModel, LearnsStartTimeFromWarmUp) {
  const FittedModel model(as_measured(run(std::string(kVaried) + "cost = startup=50ms\n")));
  EXPECT_EQ(model.predict({}).account.stall[Cause::startup], 0);
  const Account account = model.predict({{"samples", "80"}}).account;  // epochs of ten steps
  // The compute before hides a part.
  EXPECT_GE(account.stall[Cause::startup], 19 * 20 * kMillisecond);
}

// One record fitted without that load, a prediction compared with a run under it.
TEST(FittedModel, PredictsUnderTheLoadOfAnotherRun) {
  const std::string lines = "cost = decode=10ms\nworkers = 6\nbatch = 8\nsteps = 100\ncores = ";
  const FittedModel model(as_measured(run(lines + "64\n")));
  RunRecord loaded = as_measured(run(lines + "2\n"));
  loaded.config.declared.cores.set(64);
  const double measured = analyse(loaded).samples_per_s.mean;
  EXPECT_GT(model.predict({}).samples_per_s / measured, 2.5);
  const Prediction prediction = model.predict_under_load(loaded, {});
  EXPECT_NEAR(prediction.samples_per_s / measured, 1, 0.05);
  ASSERT_EQ(prediction.notes.size(), 1U);
  EXPECT_NE(prediction.notes.front().find("other processes took cores"), std::string::npos);
}

// Epochs of 20 steps with a slow start each: the warm-up grows with the window, what is compared
// does not. The deeper window gives nothing.
TEST(FittedModel, ComparesTheSameEpochs) {
  const FittedModel model(
      run("cost = decode=10ms\ncost = startup=200ms\nworkers = 2\nbatch = 4\nsamples = 80\n"
          "compute = 1ms\nsteps = 30\nwarmup = 5\n"));
  const Prediction deeper = model.predict({{"prefetch-factor", "8"}});
  EXPECT_DOUBLE_EQ(deeper.gain(), 1);
  EXPECT_DOUBLE_EQ(deeper.samples_per_s, deeper.base_samples_per_s);
}

TEST(FittedModel, PredictsItsRunWithEpochs) {
  const RunRecord record = run(std::string(kVaried) + "samples = 200\n");
  EXPECT_EQ(FittedModel(record).fitted().account.stall, analyse(record).account.stall);
}

// The model is 8 % off: what it is off by is no gain.
TEST(ScaledPrediction, MultipliesMeasurementByGain) {
  Analysis measured;
  measured.has_busy = true;
  measured.samples_per_s.mean = 100;
  measured.busy.mean = 0.4;
  Prediction prediction;
  prediction.account.window = 1000;
  prediction.account.compute = 864;
  prediction.samples_per_s = 216;
  prediction.base_samples_per_s = 108;
  prediction.base_busy = 0.432;
  const ScaledPrediction promise = scale_prediction(measured, prediction);
  EXPECT_DOUBLE_EQ(promise.rate_before, 100);
  EXPECT_DOUBLE_EQ(promise.rate_after, 200);
  EXPECT_DOUBLE_EQ(promise.busy_before, 0.4);
  EXPECT_DOUBLE_EQ(promise.busy_after, 0.8);
  prediction.account.compute = 1000;
  prediction.base_busy = 0.25;
  EXPECT_DOUBLE_EQ(scale_prediction(measured, prediction).busy_after, 1);  // and no more
}

TEST(GoodnessOfFit, RejectsPredictionBeyondTenPercentError) {
  for (const double error : {0.0, 0.1, -0.1})
    EXPECT_TRUE((GoodnessOfFit{error, "", 0}.can_predict())) << error;
  for (const double error : {0.101, -0.101, 0.49, 25.0})
    EXPECT_FALSE((GoodnessOfFit{error, "", 0}.can_predict())) << error;
}

TEST(FittedModel, RefusesWhatTheResultDoesNotSay) {
  const FittedModel model(as_measured(run(kVaried)));
  EXPECT_THROW(model.predict({{"augment", "flip"}}), UsageError);
  EXPECT_THROW(model.predict({{"engine", "model"}}), UsageError);
  EXPECT_THROW(model.to_run({{"decode.speed", "2"}}), UsageError);
  RunRecord empty = as_measured(run(kVaried));
  for (RankRecord& rank : empty.ranks) rank.reservoir.clear();
  EXPECT_THROW(FittedModel{empty}, RunError);
  EXPECT_THROW(FittedModel{RunRecord()}, RunError);
}

// Values that no user gave come unchecked from the result file.
TEST(FittedModel, SurvivesAbsurdSettingsOfResult) {
  RunRecord record = as_measured(run(kVaried));
  record.config.loader.prefetch_factor.value = INT64_MAX;
  record.config.declared.cores.value = 1e300;
  EXPECT_NO_THROW(FittedModel(record).predict({{"workers", "3"}}));
}

TEST(FittedModel, SaysWhereItGoesBeyondWhatWasMeasured) {
  const FittedModel model(as_measured(run(kVaried)));
  EXPECT_TRUE(model.predict({{"workers", "4"}}).notes.empty());
  EXPECT_EQ(model.predict({{"workers", "16"}}).notes.size(), 1U);
  EXPECT_EQ(model.predict({{"memory", "pin-thread"}}).notes.size(), 1U);
}

// Half of a receive's wait is for workers that compute: without what they compute it is not waited
// for, and twice as fast it is half as long.
TEST(FittedCosts, ScalesWaitForBusyWorkersWithTheirWork) {
  FittedCosts costs;
  costs.busy_workers = {Stage::decode, 0.5};
  const StageTime whole = {8 * kMillisecond, 0, kMillisecond};
  EXPECT_EQ(costs.received(whole, {}), whole);
  EXPECT_EQ(costs.received(whole, {Stage::decode}).waits, 4 * kMillisecond);
  costs.speed[Stage::decode] = 2;
  EXPECT_EQ(costs.received(whole, {}).waits, 6 * kMillisecond);
  EXPECT_EQ(costs.received(whole, {}).cpu, kMillisecond);
}

// A read takes 8 ms, and 1 ms more for each 100 kB. The sizes vary, so a fit can separate the two.
constexpr const char* kFromStorage =
    "storage-latency = 8ms\nstorage-bandwidth = 100MB/s\nstored-bytes = uniform:100kB:900kB\n"
    "workers = 1\nbatch = 8\nsteps = 200\nwarmup = 10\n";

double measured_rate(std::string_view scenario) {
  return analyse(run(scenario)).samples_per_s.mean;
}

TEST(FittedModel, PredictsStorageChangesFromReads) {
  const FittedModel model(as_measured(run(kFromStorage)));
  std::string nearer = kFromStorage, wider = kFromStorage;
  nearer.replace(nearer.find("8ms"), 3, "1ms");
  wider.replace(wider.find("100MB"), 5, "400MB");
  EXPECT_NEAR(model.predict({{"storage.latency", "1ms"}}).samples_per_s / measured_rate(nearer), 1,
              0.05);
  EXPECT_NEAR(
      model.predict({{"storage.bandwidth", "400MB/s"}}).samples_per_s / measured_rate(wider), 1,
      0.05);
}

TEST(FittedModel, RefusesAChangeOfTheStorageThatNoFitAnswers) {
  const FittedModel no_requests(as_measured(run(kFromStorage)));
  EXPECT_THROW(no_requests.predict({{"storage.in-flight", "8"}}), UsageError);
  EXPECT_THROW(no_requests.predict({{"cache.hit-rate", "0.5"}}), UsageError);
  const FittedModel memory(as_measured(run("cost = decode=5ms\nworkers = 1\nsteps = 50\n")));
  EXPECT_THROW(memory.predict({{"storage.latency", "1ms"}}), UsageError);
  const FittedModel declares_none(run("cost = decode=5ms\nworkers = 1\nsteps = 50\n"));
  EXPECT_THROW(declares_none.predict({{"storage.latency", "1ms"}}), UsageError);
}

TEST(FittedModel, ChangesDeclaredStorageExactly) {
  std::string nearer = kFromStorage;
  nearer.replace(nearer.find("8ms"), 3, "1ms");
  const Prediction predicted = FittedModel(run(kFromStorage)).predict({{"storage.latency", "1ms"}});
  EXPECT_EQ(predicted.account.stall, analyse(run(nearer)).account.stall);
}

}  // namespace
}  // namespace loaderscope
