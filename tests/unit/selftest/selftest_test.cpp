// Results of the self-test in virtual time, where every delay must be found exactly.
#include "experiment/selftest/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "engine/model/model_engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/writers.h"

namespace loaderscope::selftest {
namespace {

RunConfig model_config() {
  RunConfig config;
  config.engine.set("model");
  return config;
}

std::vector<Trial> trials_of_model() { return make_trials(model_config(), MachineLimits{2}); }

RunRecord run_in_model(const RunConfig& config) { return run_model(config, {}); }

// Each run takes one second.
class Clock {
 public:
  World world(std::function<RunRecord(const RunConfig&)> run) {
    World world;
    world.run = [this, run = std::move(run)](const RunConfig& config) {
      now_ += kSecond;
      ++runs;
      return run(config);
    };
    world.now = [this] { return now_; };
    return world;
  }
  int runs = 0;

 private:
  Nanos now_ = 0;
};

// Runs the model, but books `part` of the stall of augment to `to`.
RunRecord misbooked(const RunConfig& config, double part, Cause to) {
  RunRecord record = run_model(config, {});
  StepRows rows;
  record.ranks.front().rows.for_each([&](StepRow row) {
    const auto moved = static_cast<Nanos>(part * static_cast<double>(row.stall[Cause::augment]));
    row.stall[Cause::augment] -= moved;
    row.stall[to] += moved;
    rows.push_back(row);
  });
  record.ranks.front().rows = std::move(rows);
  return record;
}

const Recovery& find_recovery(const Result& result, Stage stage) {
  for (const Recovery& recovery : result.stages) {
    if (recovery.stage == stage) return recovery;
  }
  throw std::logic_error("no such stage");
}

TEST(Selftest, FindsEveryDelayOfTheModelExactly) {
  Clock clock;
  const Result result = run_selftest(trials_of_model(), {}, clock.world(run_in_model));
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.contention, 0);
  for (const Recovery& recovery : result.stages) {
    EXPECT_DOUBLE_EQ(recovery.injected_s, 0.040);
    EXPECT_NEAR(recovery.recovered_s(), recovery.injected_s, 1e-9)
        << recovery.pipeline << ' ' << name_of(recovery.stage);
  }
}

TEST(Selftest, CoversEveryStageThatADelayCanBeInjectedInto) {
  std::set<Stage> covered;
  for (const Trial& trial : trials_of_model()) {
    for (const Delay& delay : trial.delays) covered.insert(delay.stage);
  }
  for (const Stage stage :
       {Stage::read, Stage::decode, Stage::augment, Stage::collate, Stage::transport, Stage::pin,
        Stage::h2d, Stage::launch, Stage::startup})
    EXPECT_TRUE(covered.contains(stage)) << name_of(stage);
}

TEST(Selftest, SaysWhichStageWasNotFoundAndWhereItWent) {
  Clock clock;
  const Result result =
      run_selftest(trials_of_model(), {.rounds = 1, .budget = 0},
                   clock.world([](const RunConfig& c) { return misbooked(c, 0.25, Cause::read); }));
  EXPECT_FALSE(result.passed());
  ASSERT_EQ(result.not_found().size(), 2U);  // one with and one without a worker
  const Recovery& augment = *result.not_found().front();
  EXPECT_EQ(augment.stage, Stage::augment);
  EXPECT_NEAR(augment.share(), 0.75, 1e-6);
  EXPECT_NEAR(augment.elsewhere(Cause::read), 0.25, 1e-6);
  EXPECT_EQ(result.worst()->stage, Stage::augment);
  EXPECT_NEAR(find_recovery(result, Stage::decode).share(), 1, 1e-6);
}

TEST(Selftest, RejectsStageBlamedForMoreThanInjected) {
  Recovery recovery{"p", Stage::decode, 0.020, {}};
  const auto grown_by = [](double s) {
    PerCause<double> growth{};
    growth[Cause::decode] = s;
    return growth;
  };
  recovery.growth = {grown_by(0.0205)};
  EXPECT_TRUE(recovery.found());
  recovery.growth = {grown_by(0.0215)};
  EXPECT_FALSE(recovery.found());
  recovery.growth = {grown_by(0.0189)};
  EXPECT_FALSE(recovery.found());
  recovery.growth = {grown_by(0.0100), grown_by(0.0199), grown_by(0.0300)};
  EXPECT_TRUE(recovery.found()) << "the median counts";
}

TEST(Selftest, RepeatsWhatWasNotFoundAndNothingElse) {
  Clock clock;
  int bad_runs = 0;
  const Result result = run_selftest(
      trials_of_model(), {.rounds = 1, .budget = 1000 * kSecond, .most_rounds = 4},
      clock.world([&](const RunConfig& c) {
        const bool delayed =
            !c.declared.inject.value.empty() && c.declared.inject.value[0].stage == Stage::augment;
        return delayed && ++bad_runs <= 2 ? misbooked(c, 0.5, Cause::other) : run_model(c, {});
      }));
  EXPECT_TRUE(result.passed());
  for (const Recovery& recovery : result.stages) {
    const bool was_bad = recovery.stage == Stage::augment;
    EXPECT_EQ(recovery.growth.size(), was_bad ? 3U : 1U) << name_of(recovery.stage);
  }
  std::ostringstream text;
  find_row("table", report_table()).write(text, make_result(result, "1.0"), ReportStyle{});
  std::string words = text.str();
  std::replace(words.begin(), words.end(), '\n', ' ');
  EXPECT_THAT(words,
              testing::ContainsRegex(
                  "; augment .* and +1 +other +only +when +looked +for +again, +up +to +round +3"));
}

TEST(Selftest, EndsWithItsBudget) {
  Clock clock;
  run_selftest(trials_of_model(), {.rounds = 3, .budget = 20 * kSecond}, clock.world(run_in_model));
  EXPECT_EQ(clock.runs, 18);  // a whole round: three pipelines and fifteen delays
}

TEST(Selftest, ExcludesInterruptedRuns) {
  Clock clock;
  const Result result =
      run_selftest(trials_of_model(), {}, clock.world([&](const RunConfig& config) {
        RunRecord record = run_model(config, {});
        record.interrupted = clock.runs == 3;
        return record;
      }));
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(clock.runs, 3);
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(result.stages.front().growth.size(), 1U);
}

TEST(Selftest, RefusesWhatItCannotSee) {
  RunConfig config = model_config();
  config.data.paths.set({"/some/where"});
  EXPECT_THROW(make_trials(config, MachineLimits{2}), UsageError);
  RunConfig null;
  null.trainer.device.set("null");
  EXPECT_THROW(make_trials(null, MachineLimits{2}), UsageError);
}

}  // namespace
}  // namespace loaderscope::selftest
