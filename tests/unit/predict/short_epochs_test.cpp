// Programs whose epochs have few batches: the model must give back what each beginning costs, in
// exact virtual time.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "unit/predict/seen_program.h"

namespace loaderscope::short_epochs {
namespace {

constexpr Nanos kTurn = 3 * kMillisecond;

// Epochs of ten batches in all programs: 20 ms to make one, 50 ms to start a worker.
constexpr const char* kShort =
    "cost = decode=2ms\ncost = startup.parent=20ms\ncost = startup=30ms\nsamples = 100\n"
    "compute = 5ms\nsteps = 200\nwarmup = 10\n";

StageStats every(Nanos wall) {
  StageStats stats;
  stats.add(wall, 0, 0, 0);
  return stats;
}

// The declared costs as those that a run measured, with what only a run knows.
FittedCosts measured_costs(const RunConfig& config, Nanos turn) {
  FittedCosts costs;
  FittedCosts::Rank& rank = costs.ranks.emplace_back();
  const auto fitted = [&](Stage stage) {
    const Cost* cost = config.declared_cost(stage);
    return cost == nullptr ? Nanos{0} : cost->draw(0.5, 0);
  };
  FittedCosts::Sample sample;
  const auto decode = std::find(kSampleStages.begin(), kSampleStages.end(), Stage::decode);
  sample.stages.at(static_cast<std::size_t>(decode - kSampleStages.begin())).waits =
      fitted(Stage::decode);
  rank.samples = {sample};
  for (const Stage stage : {Stage::startup, Stage::startup_parent, Stage::launch})
    if (fitted(stage) > 0) rank.stages[stage] = MeasuredTimes(every(fitted(stage)));
  costs.turn = turn;
  return costs;
}

// A program that computes on its own thread.
RunRecord program(const std::string& scenario, Nanos turn = 0) {
  RunConfig config;
  parse_scenario(
      "engine = model\nexecutor = processes\nmemory = pageable\nin-flight = 1\nbatch = 10\n" +
          scenario,
      "test", config);
  std::vector<std::string> notes;
  const RunConfig resolved = resolve_to_predict(config, MachineLimits{64}, notes);
  const FittedCosts costs = measured_costs(resolved, turn);
  RunConfig undeclared = resolved;
  undeclared.declared.cost = {};
  RunContext context;
  context.model.costs = &costs;
  return run_model(undeclared, context);
}

// The guest measures the turn of a worker, too.
RunRecord as_seen(RunRecord record, Nanos turn) {
  record = loaderscope::as_seen(std::move(record));
  if (turn > 0)
    record.metrics.push_back({"transport.turn_s", "s", "", static_cast<double>(turn) * 1e-9});
  return record;
}

double rate(const RunRecord& record) { return analyse(record).samples_per_s.mean; }

// Compares the model with its run, and its prediction for two workers with a run of two.
void expect_given_back(const RunRecord& seen, const RunRecord& with_two) {
  const FittedModel model(seen);
  EXPECT_NEAR(model.fitted().samples_per_s / rate(seen), 1, 0.03);
  const ScaledPrediction two =
      scale_prediction(analyse(seen), model.predict({{"num-workers", "2"}}));
  EXPECT_NEAR(two.rate_after / rate(with_two), 1, 0.03);
}

TEST(ShortEpochs, GivesBackTurnsOfWorkers) {
  const std::string one = std::string(kShort) + "workers = 1\n";
  const std::string two = std::string(kShort) + "workers = 2\n";
  EXPECT_LT(rate(program(one, kTurn)), 0.95 * rate(program(one)));
  expect_given_back(as_seen(program(one, kTurn), kTurn), program(two, kTurn));
}

// A later batch is dispatched before the step begins, which no stage of the record has.
TEST(ShortEpochs, GivesBackDispatchOfTrainer) {
  const std::string costs = std::string(kShort) + "cost = launch=4ms\n";
  RunRecord seen = as_seen(program(costs + "workers = 3\n"));
  seen.ranks.front().stages[Stage::launch] = {};
  const FittedModel model(seen);
  EXPECT_NEAR(model.fitted().samples_per_s / rate(seen), 1, 0.03);
}

// An iterable data set has no length.
TEST(ShortEpochs, GivesBackEpochsOfUnknownLength) {
  RunRecord seen = as_seen(program(std::string(kShort) + "workers = 1\n"));
  seen.config.data.samples = {};
  EXPECT_GT(analyse(seen).account.stall[Cause::startup], 0);
  expect_given_back(seen, program(std::string(kShort) + "workers = 2\n"));
  const ScaledPrediction kept =
      scale_prediction(analyse(seen), FittedModel(seen).predict({{"persistent-workers", "true"}}));
  const std::string persistent = "workers = 1\npersistent-workers = true\n";
  EXPECT_NEAR(kept.rate_after / rate(program(kShort + persistent)), 1, 0.03);
}

TEST(ShortEpochs, TakesNoLengthFromOneEpoch) {
  RunRecord seen = as_seen(
      program("cost = decode=2ms\nsamples = 10000\ncompute = 5ms\nsteps = 200\nworkers = 1\n"));
  seen.config.data.samples = {};
  EXPECT_EQ(FittedModel(seen).fitted().config.data.samples, 0);
}

}  // namespace
}  // namespace loaderscope::short_epochs
