// Changes that keep the GPU busy: known answers, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/model_engine.h"
#include "loaderscope/predict.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"
#include "report/findings_text.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

RunRecord loaded_run(std::string_view scenario) {
  RunConfig config;
  parse_scenario("engine = model\nbatch = 8\nwarmup = 32\nsteps = 160\ncompute = 10ms\n" +
                     std::string(scenario),
                 "test", config);
  std::vector<std::string> notes;
  return run_model(resolve_to_predict(config, MachineLimits{16}, notes), {});
}

Analysis analyse_scenario(std::string_view scenario) {
  const RunRecord record = loaded_run(scenario);
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  return analysis;
}

const TargetOption* way(const Analysis& analysis, std::string_view what) {
  if (!analysis.what_it_takes) return nullptr;
  for (const TargetOption& each : analysis.what_it_takes->ways) {
    if (each.what == what) return &each;
  }
  return nullptr;
}

// 96 ms for a batch that is needed every 10.5 ms (95 % of which are compute): 10 workers.
TEST(TargetOptions, FindsSmallestNumberOfWorkers) {
  const Analysis analysis = analyse_scenario("workers = 2\ncost = decode=12ms");
  ASSERT_NE(way(analysis, "num-workers"), nullptr);
  EXPECT_EQ(way(analysis, "num-workers")->changes, (Changes{{"num-workers", "10"}}));
  EXPECT_GE(way(analysis, "num-workers")->busy_after, 0.95);
  EXPECT_EQ(way(analysis, "cores"), nullptr);
  EXPECT_THAT(what_it_takes_line(analysis), HasSubstr("for 95 % busy: num-workers=10; or decode "));
}

// 800 ms for a batch every 10.5 ms: 77 cores with a worker each; or decoding 77 / 16 times as fast.
TEST(TargetOptions, FindsCoresIfWorkersAreNotEnough) {
  const Analysis analysis = analyse_scenario("workers = 16\ncores = 16\ncost = decode=100ms");
  ASSERT_TRUE(way(analysis, "num-workers") && way(analysis, "cores"));
  EXPECT_TRUE(way(analysis, "num-workers")->changes.empty());
  const Changes& cores = way(analysis, "cores")->changes;
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_GE(std::stoi(cores[0].value), 76);
  EXPECT_LE(std::stoi(cores[0].value), 81);
  EXPECT_EQ(cores[1], (Change{"num-workers", cores[0].value}));
  const Changes& speed = way(analysis, "decode.speed")->changes;
  ASSERT_EQ(speed.size(), 1U);
  EXPECT_GE(std::stod(speed[0].value), 4.7);
  EXPECT_LE(std::stod(speed[0].value), 5.3);
  EXPECT_THAT(what_it_takes_line(analysis), HasSubstr("x as fast"));
  EXPECT_THAT(what_it_takes_line(analysis), HasSubstr("alone never enough: num-workers"));
}

// 8 reads of 20 ms in each of 2 workers, one batch every 10.5 ms: 2.6 ms each.
TEST(TargetOptions, FindsLatencyOfDeclaredStorage) {
  const Analysis analysis =
      analyse_scenario("workers = 2\nstored-bytes = 1KB\nstorage-latency = 20ms");
  ASSERT_NE(way(analysis, "storage-latency"), nullptr);
  const Changes& latency = way(analysis, "storage-latency")->changes;
  ASSERT_EQ(latency.size(), 1U);
  EXPECT_LE(parse_duration(latency[0].value), Nanos{2'640'000});
  EXPECT_GE(parse_duration(latency[0].value), Nanos{2'300'000});
}

// Compares the promised number of workers with predictions.
TEST(TargetOptions, FindsSmallestSufficientNumber) {
  RunConfig config;
  parse_scenario(
      "engine = model\nbatch = 8\nwarmup = 32\nsteps = 160\ncompute = 10ms\nworkers = 1\n"
      "cost = decode=lognormal:3ms:0.5\ncost = read=1ms:sleep",
      "test", config);
  std::vector<std::string> notes;
  const RunRecord record = run_model(resolve_to_predict(config, MachineLimits{16}, notes), {});
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  const TargetOption* workers = way(analysis, "num-workers");
  ASSERT_TRUE(workers != nullptr && !workers->changes.empty());
  const std::int64_t n = std::stoll(workers->changes.front().value);
  const FittedModel model(record);
  const auto busy_with = [&](std::int64_t count) {
    const Account account = model.predict({{"num-workers", std::to_string(count)}}, 20'000).account;
    return static_cast<double>(account.compute) / static_cast<double>(account.window);
  };
  EXPECT_GE(busy_with(n), 0.95);
  EXPECT_LT(busy_with(n - 1), 0.95);
}

// "num-workers=297" was said of a program that trains on two cores.
TEST(TargetOptions, OmitsChangesWithUnknownGain) {
  const RunRecord record = loaded_run("workers = 2\ncost = decode=12ms");
  const FittedModel model(record);
  const auto predict = [&](const Changes& changes) {
    Prediction prediction = model.predict(changes);
    prediction.is_unknown = prediction.config.loader.num_workers > 2;
    return prediction;
  };
  Analysis analysis = analyse(record);
  analysis.what_it_takes = what_it_takes(analysis, predict({}), predict);
  ASSERT_TRUE(analysis.what_it_takes);
  EXPECT_EQ(way(analysis, "num-workers"), nullptr);
  EXPECT_NE(way(analysis, "decode.speed"), nullptr);
}

TEST(TargetOptions, PrintsNothingIfGpuIsBusyOrLoaderIsNotTheLimit) {
  EXPECT_FALSE(analyse_scenario("workers = 4\ncost = decode=1ms").what_it_takes);
  EXPECT_FALSE(analyse_scenario("workers = 4\ncost = decode=1ms\ncost = h2d=20ms").what_it_takes);
  EXPECT_EQ(what_it_takes_line(analyse_scenario("workers = 4\ncost = decode=1ms")), "");
}

}  // namespace
}  // namespace loaderscope
