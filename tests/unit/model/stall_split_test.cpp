// Mean- and variance-starved, and the depth that makes steps ready: known answers.
#include "predict/stall_split.h"

#include <gtest/gtest.h>

#include "engine/model/model_engine.h"
#include "loaderscope/predict.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"

namespace loaderscope {
namespace {

RunRecord run_without_compute(std::string_view scenario) {
  RunConfig config;
  parse_scenario("engine = model\nbatch = 8\nwarmup = 30\n" + std::string(scenario), "test",
                 config);
  std::vector<std::string> notes;
  return run_model(resolve_to_predict(config, MachineLimits{16}, notes), {});
}

RunRecord run(std::string_view scenario) {
  return run_without_compute("compute = 10ms\n" + std::string(scenario));
}

Analysis full_analysis(const RunRecord& record) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  return analysis;
}

// One sample in 200 takes 150 ms more; two workers would do on average.
constexpr const char* kRareSlowSample =
    "workers = 2\ncost = decode=1250us:sleep\ninject = decode=+150ms@every=200\nsteps = 200\n";
// 32 ms for a batch that is needed every 10 ms.
constexpr const char* kTooSlow = "workers = 1\ncost = decode=4ms\nsteps = 160\n";

TEST(StallSplit, BooksConstantCostsToCapacity) {
  const Analysis analysis = full_analysis(run(kTooSlow));
  ASSERT_TRUE(analysis.starved);
  EXPECT_EQ(analysis.starved->from_capacity, analysis.account.idle());
  EXPECT_EQ(analysis.starved->from_variation, 0);
}

TEST(StallSplit, BooksRareSlowSampleToVariation) {
  const Analysis analysis = full_analysis(run(kRareSlowSample));
  ASSERT_TRUE(analysis.starved);
  EXPECT_EQ(analysis.account.idle(), 880 * kMillisecond);
  EXPECT_EQ(analysis.starved->from_capacity, 0);
  EXPECT_EQ(analysis.starved->from_variation, 880 * kMillisecond);
}

// The mean batch takes 10.3 ms where 10 are there: 0.3 of a step of 10.3 ms are for want of
// capacity.
TEST(StallSplit, SplitsDistributionAboveItsCapacity) {
  const Analysis analysis =
      full_analysis(run("workers = 1\ncost = decode=exponential:1287500ns\nsteps = 1500\n"));
  ASSERT_TRUE(analysis.starved);
  const Account& account = analysis.account;
  const double per_step = static_cast<double>(analysis.starved->from_capacity) / 1500e6;
  EXPECT_NEAR(per_step, 0.3, 0.001);  // ms
  EXPECT_EQ(analysis.starved->sum(), account.idle());
  EXPECT_GT(analysis.starved->from_variation, 0);
}

// A measured run has no declared costs: the split uses the means of its rows and histograms.
TEST(StallSplit, MatchesDeclaredCostsForMeasuredSamples) {
  RunRecord record =
      run("workers = 2\ncost = decode=exponential:3ms\ncost = collate=1ms\n"
          "steps = 300\n");
  const StallSplit declared = *full_analysis(record).starved;
  record.engine = "native";
  record.config.engine.value = "native";
  record.config.data.source.value = "files";
  record.config.data.paths.value = {"photos"};
  record.config.data.paths.set({"/data"});
  record.config.data.samples.value = 100'000;
  record.config.declared.cost = {};
  const StallSplit measured = *full_analysis(record).starved;
  const auto window = static_cast<double>(record.ranks[0].window());
  EXPECT_NEAR(static_cast<double>(measured.from_capacity) / window,
              static_cast<double>(declared.from_capacity) / window, 0.02);
  EXPECT_GT(measured.from_variation, 0);
}

TEST(StallSplit, OmitsSplitWithoutCompute) {
  const Analysis analysis =
      full_analysis(run_without_compute("workers = 1\ncost = decode=4ms\nsteps = 160\n"));
  EXPECT_TRUE(analysis.fit);
  EXPECT_FALSE(analysis.starved);
}

// Batch s is dispatched d x 2 takes before it is needed, and takes 160 ms: d = 8 (see
// scenarios/one-slow-sample-deep-window.conf).
TEST(RequiredPrefetchDepth, FindsSmallestSufficientDepth) {
  const RunRecord record = run(kRareSlowSample);
  const Analysis analysis = full_analysis(record);
  ASSERT_TRUE(analysis.depth);
  const RequiredPrefetchDepth& depth = *analysis.depth;
  EXPECT_EQ(depth.setting, "prefetch-factor");
  EXPECT_EQ(depth.enough, 8);
  EXPECT_LT(depth.ready_now, 0.999);
  EXPECT_EQ(depth.memory, (2 * 8 + 2 + 1) * Bytes{8} * 3 * 224 * 224 * 4);
  const FittedModel model(record);
  EXPECT_GE(model.predict_steps({{"prefetch-factor", "8"}}, 1000).ready, 0.999);
  EXPECT_LT(model.predict_steps({{"prefetch-factor", "7"}}, 1000).ready, 0.999);
}

TEST(RequiredPrefetchDepth, FindsWindowForSampleTasks) {
  const RunRecord record =
      run("workers = 2\ntask = sample\nwindow = 2\ncost = decode=exponential:2ms\nsteps = 300\n");
  const Analysis analysis = full_analysis(record);
  ASSERT_TRUE(analysis.depth && analysis.depth->enough);
  const std::int64_t window = *analysis.depth->enough;
  const FittedModel model(record);
  const auto ready_with = [&](std::int64_t n) {
    return model.predict_steps({{"prefetch-depth", std::to_string(n)}}, analysis.depth->steps)
        .ready;
  };
  EXPECT_EQ(analysis.depth->setting, "prefetch-depth");
  EXPECT_GE(ready_with(window), 0.999);
  ASSERT_GT(window, 1);
  EXPECT_LT(ready_with(window - 1), 0.999);
}

TEST(RequiredPrefetchDepth, FindsNoDepthForSlowWorkers) {
  const Analysis analysis = full_analysis(run(kTooSlow));
  ASSERT_TRUE(analysis.depth);
  EXPECT_FALSE(analysis.depth->enough);
}

// A thousand steps are too few to try even one batch for each of 300 workers.
TEST(RequiredPrefetchDepth, KeepsPresentDepthIfNoneCanBeTried) {
  const Analysis analysis =
      full_analysis(run("workers = 300\ncores = 400\ncost = decode=1ms\nsteps = 300\n"));
  ASSERT_TRUE(analysis.depth);
  EXPECT_EQ(analysis.depth->ready_now, 1);
  EXPECT_EQ(analysis.depth->enough, 2);
  EXPECT_GT(analysis.depth->memory, 0);
}

TEST(RequiredPrefetchDepth, OmitsDepthWithoutWorkers) {
  EXPECT_FALSE(full_analysis(run("workers = 0\ncost = decode=1ms\nsteps = 160\n")).depth);
}

// "(5.6-61.1)" was said of a simulation, by what the predictions of real runs were off by.
TEST(PastPredictions, IgnoresSimulations) {
  const PastPredictions past = {20, 0.03, 0.67};
  RunRecord record = run(kTooSlow);
  Analysis simulated = analyse(record);
  add_findings(simulated, record, past);
  EXPECT_EQ(simulated.past.count, 0);
  record.engine = "native";
  Analysis real = analyse(record);
  add_findings(real, record, past);
  EXPECT_EQ(real.past.count, 20);
}

}  // namespace
}  // namespace loaderscope
