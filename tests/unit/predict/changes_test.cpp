
#include <gtest/gtest.h>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

RunConfig parse_base(std::string_view scenario) {
  RunConfig config;
  parse_scenario(scenario, "base", config);
  return config;
}

RunConfig changed(std::string_view base, const Changes& changes) {
  RunConfig config = with_changes(parse_base(base), changes);
  for (const Change& change : changes) {
    if (const auto speedup = find_speedup(change)) {
      EXPECT_TRUE(make_faster(config, *speedup)) << change.key;
    }
  }
  return config;
}

std::string change_error(std::string_view text) {
  try {
    parse_change(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Changes, TreatsOtherThreadsAsEnvironment) {
  const Change change = parse_change("other-threads=0");
  ASSERT_TRUE(find_environment_change(change));
  EXPECT_EQ(find_environment_change(change)->value, 0);
  EXPECT_FALSE(find_environment_change({"num-workers", "0"}));
  EXPECT_EQ(with_changes(parse_base("workers = 4"), {change}).loader.num_workers, 4);
  EXPECT_NE(change_error("other-threads=-1").find("expected a number of threads"),
            std::string::npos);
}

TEST(Changes, TreatsStorageAsEnvironment) {
  EXPECT_EQ(find_environment_change(parse_change("storage.latency=1ms"))->value, 1e6);
  EXPECT_EQ(find_environment_change(parse_change("storage.bandwidth=2GB/s"))->value, 2e9);
  EXPECT_TRUE(is_of_world({"cache.hit-rate", "0.9"}));
  EXPECT_EQ(as_setting({"storage.in-flight", "32"}), (Change{"queue-depth", "32"}));
  EXPECT_EQ(as_setting({"num-workers", "4"}), (Change{"num-workers", "4"}));
  for (const char* wrong : {"cache.hit-rate=1.1", "storage.in-flight=0", "storage.latency=-1ms"})
    EXPECT_NE(change_error(wrong).find("expected"), std::string::npos) << wrong;
}

// `opaque` can lead like any other stage; the machine's settings are the model's.
TEST(Changes, AcceptsSpeedOfOpaqueStage) {
  const auto speedup = find_speedup(parse_change("opaque.speed=2"));
  ASSERT_TRUE(speedup);
  EXPECT_EQ(speedup->stage, Stage::opaque);
  EXPECT_TRUE(is_of_world({"opaque.speed", "2"}));
  EXPECT_TRUE(is_of_world({"cores", "4"}));
  EXPECT_TRUE(is_of_world({"storage-concurrency", "4"}));
  EXPECT_FALSE(is_of_world({"cost", "decode=1ms"}));
  EXPECT_FALSE(is_of_world({"workers", "4"}));
}

TEST(Changes, KeepsOtherGivenSettings) {
  const RunConfig config = changed("workers = 4\nbatch = 8\ncompute = 5ms", {{"workers", "8"}});
  EXPECT_EQ(config.loader.num_workers, 8);
  EXPECT_EQ(config.loader.batch_size, 8);
  EXPECT_FALSE(config.loader.prefetch_factor.given);
}

TEST(Changes, RemovesContradictedSettings) {
  EXPECT_FALSE(changed("duration = 5s", {{"steps", "100"}}).measure.duration.given);
  EXPECT_FALSE(changed("pin-memory = true", {{"memory", "pageable"}}).loader.pin_memory.given);
  EXPECT_FALSE(
      changed("prefetch = 4\nworkers = 2", {{"workers", "0"}}).loader.prefetch_factor.given);
  const RunConfig with_workers = changed("executor = inline", {{"num-workers", "2"}});
  EXPECT_FALSE(with_workers.loader.executor.given);
}

RunConfig resolve_base(std::string_view scenario) {
  std::vector<std::string> notes;
  RunConfig config = parse_base(scenario);
  config.engine.value = "model";
  return resolve_to_predict(config, MachineLimits{16}, notes);
}

RunConfig held(std::string_view scenario, const Changes& changes) {
  std::vector<std::string> notes;
  const RunConfig base = resolve_base(scenario);
  RunConfig config = counterfactual(base, changes);
  config.engine.value = "model";
  return resolve_to_predict(config, MachineLimits{base.declared.cores}, notes);
}

constexpr const char* kTask = "cost = decode=8ms\ntask = sample\n";

// Covers settings that are derived from others if they are not given.
TEST(Counterfactual, KeepsUnnamedSettings) {
  const RunConfig more_cores = held("cost = decode=8ms\ncores = 2\nranks = 3", {{"cores", "4"}});
  EXPECT_EQ(more_cores.declared.cores, 4);
  EXPECT_EQ(more_cores.loader.num_workers, 2);
  const RunConfig preset = held("compute = resnet50-h100\nworkers = 1", {{"compute", "5ms"}});
  EXPECT_EQ(preset.loader.batch_size, resolve_base("compute = resnet50-h100").loader.batch_size);
  EXPECT_NE(preset.loader.batch_size, RunConfig().loader.batch_size.value);
  RunConfig real = resolve_base("cost = decode=8ms");
  real.trainer.device.value = "cuda";
  EXPECT_EQ(counterfactual(real, {{"link", "gen5x16"}}).trainer.device.value, "cuda");
}

TEST(Counterfactual, KeepsPrefetchDepthOfSampleTasks) {
  const std::string task = kTask;
  EXPECT_EQ(held(task + "workers = 2", {{"num-workers", "8"}}).loader.prefetch_depth, 4);
  EXPECT_EQ(held(task + "workers = 2\nprefetch = 3", {{"num-workers", "8"}}).loader.prefetch_depth,
            6);
  EXPECT_EQ(held(task + "workers = 2", {{"num-workers", "8"}, {"prefetch-depth", "9"}})
                .loader.prefetch_depth,
            9);
  EXPECT_EQ(held(task + "workers = 2", {{"prefetch-factor", "4"}}).loader.prefetch_depth,
            8);  // prefetch-factor is named
  EXPECT_EQ(
      held(task + "workers = 2", {{"num-workers", "8"}, {"task", "batch"}}).loader.prefetch_depth,
      0);
  EXPECT_EQ(held(task + "workers = 2", {{"num-workers", "0"}}).loader.num_workers, 0);
}

TEST(Counterfactual, DropsSettingsThatConflict) {
  EXPECT_EQ(held("cost = decode=8ms\ncores = 2", {{"cores", "4"}, {"executor", "inline"}})
                .loader.executor,
            Executor::inline_);
  EXPECT_EQ(held("cost = decode=8ms\ncores = 2", {{"cores", "4"}, {"num-workers", "3"}})
                .loader.num_workers,
            3);
  EXPECT_EQ(held("cost = decode=8ms\nexecutor = inline", {{"cores", "4"}}).loader.num_workers, 0);
}

TEST(Counterfactual, DropsInjectionsOfMissingRanksAndWorkers) {
  const std::string base =
      "cost = decode=8ms\nranks = 4\nworkers = 3\ninject = decode=+1ms@rank=1\n"
      "inject = decode=+2ms@worker=2";
  const auto kept = [&](const Changes& changes) { return held(base, changes).declared.inject; };
  EXPECT_EQ(kept({{"ranks", "2"}}).value.size(), 2u);
  EXPECT_EQ(kept({{"ranks", "1"}}).value.size(), 1u);
  EXPECT_FALSE(kept({{"ranks", "1"}, {"num-workers", "2"}}).given);
  EXPECT_THROW(kept({{"ranks", "1"}, {"inject", "decode=+1ms@rank=1"}}), UsageError);
}

TEST(Changes, MergesCostsPerStage) {
  const RunConfig config = changed("cost = read=1ms\ncost = decode=8ms", {{"cost", "decode=2ms"}});
  ASSERT_EQ(config.declared.cost.value.size(), 2U);
  EXPECT_EQ(config.declared_cost(Stage::decode)->draw(0.5, 0), 2 * kMillisecond);
  EXPECT_EQ(config.declared_cost(Stage::read)->draw(0.5, 0), kMillisecond);
}

TEST(Changes, DividesDeclaredTimeBySpeed) {
  const RunConfig config = changed(
      "cost = decode=lognormal:8ms:0.5\ncost = read=100MB/s\ninject = decode=+4ms@every=10\n"
      "compute = 10ms",
      {{"decode.speed", "4"}, {"read.speed", "2"}, {"compute.speed", "0.5"}});
  EXPECT_EQ(config.declared_cost(Stage::decode)->text, "decode=lognormal:2ms:0.5:cpu");
  EXPECT_EQ(config.declared_cost(Stage::read)->text, "read=200MB/s:sleep");
  EXPECT_EQ(config.declared.inject.value.front().extra, kMillisecond);
  EXPECT_EQ(config.declared.inject.value.front().every, 10);
  EXPECT_EQ(config.trainer.compute.value.mean, 20e6);
}

TEST(Changes, RoundsCostsBelowOneNanosecondToZero) {
  const RunConfig config = changed("cost = decode=lognormal:100ns:0.5\ncost = read=uniform:1ns:2ns",
                                   {{"decode.speed", "1000"}, {"read.speed", "1000"}});
  EXPECT_EQ(config.declared_cost(Stage::decode)->draw(0.5, 0), 0);
  EXPECT_EQ(config.declared_cost(Stage::read)->draw(0.5, 0), 0);
}

TEST(Changes, IgnoresSpeedOfStageWithoutCost) {
  RunConfig config = parse_base("compute = 5ms");
  EXPECT_FALSE(make_faster(config, {Stage::decode, 2}));
  EXPECT_TRUE(config.declared.cost.value.empty());
}

TEST(Changes, NamesNextStepInErrors) {
  EXPECT_EQ(parse_change("decode.speed=2"), (Change{"decode.speed", "2"}));
  EXPECT_EQ(change_error("workers"),
            "--set workers: expected KEY=VALUE; give --set num-workers=8 or --set decode.speed=2");
  EXPECT_EQ(change_error("worker=2"), "--set: worker: unknown key; did you mean 'workers'?");
  EXPECT_EQ(change_error("decod.speed=2"),
            "--set decod.speed=2: no stage has this name; did you mean 'decode'?");
  for (const char* text : {"decode.speed=0", "decode.speed=nan", "decode.speed=x"})
    EXPECT_NE(change_error(text), "") << text;
}

}  // namespace
}  // namespace loaderscope
