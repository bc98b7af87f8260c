// The tuner against grids whose answer is known, in virtual time.
#include "experiment/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "experiment/axes.h"
#include "experiment/case_statistics.h"
#include "experiment/settings.h"
#include "experiment/tuner_parts.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/writers.h"
#include "unit/experiment/model_context.h"

namespace loaderscope {
namespace {

using test::plan;
using test::scenario;
using test::true_rate;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kGrid = {"workers=0,1,2,4,8,12,16", "prefetch=1,2,4,8",
                                        "memory=pageable,pin-thread,pinned-slots"};

struct Workload {
  const char* name;
  std::string lines;
  bool is_steady = true;  // false: two minutes do not see enough of what is rare
};

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      {"decode_bound", "cost = decode=lognormal:8ms:0.5\nbatch = 32\ncompute = 40ms\ncores = 12"},
      {"read_latency_bound",
       "storage-latency = 9ms\ncost = decode=1ms\nbatch = 32\ncompute = 36ms\ncores = 8"},
      {"h2d_bound",
       "cost = decode=1ms\nlink = 2/1\nbatch = 64\ncompute = 10ms\ncopy = async\ncores = 16"},
      {"compute_bound", "cost = decode=0.2ms\nbatch = 32\ncompute = 60ms\ncores = 8"},
      {"serialisation_bound",
       "executor = processes\ncost = decode=1ms\ncost = transport=10ms\n"
       "cost = transport.recv=15ms\nbatch = 16\ncompute = 12ms\ncores = 6"},
      {"bursty",
       "cost = decode=2ms\ninject = read=+400ms@p=0.002\nbatch = 32\ncompute = 20ms\ncores = 16",
       false},
      {"few_cores", "cost = decode=4ms\ncore-scaling = 0.6\nbatch = 16\ncompute = 8ms\ncores = 4"},
  };
  return all;
}

RunConfig seeded_base(const Workload& workload, int seed) {
  RunConfig base = scenario(workload.lines);
  base.measure.seed.set(seed);
  return base;
}

Tune tuned(const RunConfig& base, const std::vector<std::string>& axes = kGrid,
           const TuneOptions& options = {}, const FitForecaster& fit = fit_forecaster) {
  return tune(plan(base, axes), test::model_context(), options, fit);
}

class TunedWorkload : public testing::TestWithParam<std::size_t> {};

TEST_P(TunedWorkload, FindsNearBestInFifteenPercentOfGridTimeTwice) {
  const Workload& workload = workloads()[GetParam()];
  const Tune first = tuned(seeded_base(workload, 1));
  ASSERT_TRUE(first.recommended);
  const double most = workload.is_steady ? 0.15 : 0.3;
  EXPECT_LE(static_cast<double>(first.experiment.spent),
            most * static_cast<double>(first.grid_time));
  double best = 0;
  for (const Case& one : first.experiment.cases) best = std::max(best, true_rate(one.config, 2000));
  const Tune second = tuned(seeded_base(workload, 2));
  ASSERT_TRUE(second.recommended);
  for (const Tune* each : {&first, &second}) {
    const RunConfig& config = each->experiment.cases[*each->recommended].config;
    EXPECT_GE(true_rate(config, 2000), 0.97 * best);
    EXPECT_TRUE(each->proven || !workload.is_steady);
  }
  const Case& one = first.experiment.cases[*first.recommended];
  const Case& other = second.experiment.cases[*second.recommended];
  EXPECT_EQ(one.config.loader.num_workers.value, other.config.loader.num_workers.value);
  if (!workload.is_steady) return;
  EXPECT_EQ(changes_to_text(one.changes), changes_to_text(other.changes));
}

INSTANTIATE_TEST_SUITE_P(Workloads, TunedWorkload, testing::Range(std::size_t{0}, std::size_t{7}),
                         [](const auto& instance) { return workloads()[instance.param].name; });

// 8 workers are the first to make a batch of 64 x 8 ms in 64 ms.
TEST(Tune, RecommendsTheCheapestThatIsAsGoodAsTheBest) {
  const Tune found = tuned(scenario("cost = decode=8ms\nbatch = 64\ncompute = 64ms\ncores = 16"));
  ASSERT_TRUE(found.recommended);
  EXPECT_EQ(changes_to_text(found.experiment.cases[*found.recommended].changes),
            "num-workers=8 prefetch-factor=1 memory=pageable");
  EXPECT_TRUE(found.proven);
  EXPECT_EQ(found.limit, "compute");
  EXPECT_LT(found.error_worst, 0.01);
  ASSERT_EQ(found.shifts.size(), 2U);
  EXPECT_EQ(found.experiment.cases[*found.shifts[0].cheapest].config.loader.num_workers, 12);
  EXPECT_EQ(found.experiment.cases[*found.shifts[1].cheapest].config.loader.num_workers, 8);
}

// Two runs of the only case are the grid.
TEST(Tune, ProvesTheOnlyCaseThatThereIs) {
  const Tune found = tuned(
      scenario(
          "cost = decode=8ms\nbatch = 4\ncompute = 12ms\ncores = 8\ntask = sample\nworkers = 4"),
      {"prefetch-depth=8"});
  EXPECT_TRUE(found.proven);
  EXPECT_FALSE(found.grid_spent);
  EXPECT_EQ(found.experiment.cases[0].runs.size(), 2U);
}

TuneOptions growing() {
  TuneOptions options;
  options.grows = options.with_now = true;
  options.limits = {2};
  return options;
}

// Two cores, and reads that wait 8 ms: 8 workers are the fewest that hide them.
const char* const kWaits =
    "cost = read=8ms:sleep\ncost = decode=1ms\ncompute = 20ms\nbatch = 16\ncores = 2";

Tune tuned_by_default(const std::string& lines, const TuneOptions& options,
                      const FitForecaster& fit = fit_forecaster) {
  const RunConfig base = scenario(lines);
  const Axes axes = default_axes(base, {2}, options.max_workers);
  return tune(plan_experiment(base, axes, false, {2}), test::model_context(), options, fit);
}

std::string table_text(const Tune& found) {
  std::ostringstream out;
  write_table(out, make_result(found, ""), ReportStyle{400, false});
  return out.str();
}

TEST(Tune, ContinuesPastTwiceTheCoresIfWorkersWait) {
  const Tune found = tuned_by_default(kWaits, growing());
  ASSERT_TRUE(found.recommended);
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.num_workers, 8);
  EXPECT_NEAR(CaseStatistics(found.experiment.cases).rate(*found.recommended).mean, 800, 1);
  EXPECT_TRUE(found.proven);
  EXPECT_FALSE(found.beyond);
  EXPECT_EQ(found.limit, "compute");
  EXPECT_THAT(table_text(found), HasSubstr("proven within 3 % of the best"));
}

// No compute holds the loader back: every worker more reads more, to the end of what is tried.
TEST(Tune, SaysBestSoFarWhereNothingEndsTheAxis) {
  TuneOptions options = growing();
  options.budget = 600 * kSecond;
  const Tune found = tuned_by_default(
      "cost = read=40ms:sleep\nbatch = 16\ncores = 2\ndevice = null\nprefetch = 2\nmemory = "
      "pageable",
      options);
  ASSERT_TRUE(found.recommended && found.beyond);
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.num_workers, 128);
  EXPECT_EQ(found.beyond->change, (Change{"num-workers", "192"}));
  EXPECT_THAT(table_text(found), HasSubstr("the best so far: the model expects "));
}

TEST(Tune, ClaimsNoBestOfAGridThatWasCut) {
  const Tune given = tuned(scenario(kWaits), {"workers=1,2,4"});
  ASSERT_TRUE(given.beyond);
  EXPECT_EQ(given.beyond->change.key, "num-workers");
  EXPECT_THAT(table_text(given), HasSubstr("Use num-workers=4: "));
  EXPECT_THAT(table_text(given), HasSubstr("the best so far: the model expects "));
  EXPECT_THAT(table_text(given), Not(HasSubstr("proven within")));

  TuneOptions options = growing();
  options.max_workers = 4;
  const Tune capped = tuned_by_default(kWaits, options);
  ASSERT_TRUE(capped.beyond);
  EXPECT_THAT(capped.beyond->left_out, HasSubstr("more workers than --max-workers 4"));
  EXPECT_THAT(table_text(capped), HasSubstr("the best so far"));
}

// The end of the axis was measured, and was better by far than what came before it.
TEST(Tune, ContinuesByMeasurementsWithoutModel) {
  const FitForecaster none = [](const RunRecord&) -> Forecaster {
    throw RunError("the model misses the run");
  };
  const Tune found =
      tuned_by_default(std::string(kWaits) + "\nprefetch = 2\nmemory = pageable", growing(), none);
  ASSERT_TRUE(found.recommended);
  EXPECT_GE(found.experiment.cases[*found.recommended].config.loader.num_workers, 8);
  EXPECT_NEAR(CaseStatistics(found.experiment.cases).rate(*found.recommended).mean, 800, 1);
  EXPECT_FALSE(found.beyond);
}

TEST(Tune, EndsTheAxisWhereMeasurementsLevelThoughTheModelExpectsMore) {
  const FitForecaster hopeful = [](const RunRecord&) {
    return [](const Changes& changes) {
      double workers = 1;
      for (const Change& change : changes) {
        if (change.key == "num-workers") workers = std::stod(change.value);
      }
      return Forecast{100 * (workers + 1), 0};
    };
  };
  const Tune found = tuned_by_default(
      "cost = decode=4ms\nbatch = 8\ncores = 2\ndevice = null\nprefetch = 2\nmemory = pageable",
      growing(), hopeful);
  EXPECT_FALSE(found.beyond);
  for (const Case& one : found.experiment.cases)
    EXPECT_LE(one.config.loader.num_workers, 8) << changes_to_text(one.changes);
}

TEST(Tune, MeasuresThePresentSettings) {
  // One of the grid: as many workers as cores, prefetch factor 2.
  const Tune on_grid = tuned_by_default(kWaits, growing());
  ASSERT_TRUE(on_grid.now);
  const Case& now = on_grid.experiment.cases[*on_grid.now];
  EXPECT_EQ(now.config.loader.num_workers, 2);
  EXPECT_FALSE(now.runs.empty());
  EXPECT_EQ(now.changes.size(), 3U);
  EXPECT_THAT(table_text(on_grid), ::testing::ContainsRegex("\n *now +2 +2 "));

  // The grid lacks the present settings.
  const Tune off_grid =
      tune(plan(scenario(std::string(kWaits) + "\nworkers = 5"), {"prefetch=1,4"}),
           test::model_context(), growing());
  ASSERT_TRUE(off_grid.now);
  EXPECT_TRUE(off_grid.experiment.cases[*off_grid.now].changes.empty());
  EXPECT_EQ(off_grid.experiment.cases[*off_grid.now].config.loader.prefetch_factor, 2);
  EXPECT_FALSE(off_grid.experiment.cases[*off_grid.now].runs.empty());
}

TEST(Tune, RunsTheNeighboursOfItsAnswer) {
  const Tune found = tuned(scenario("cost = decode=8ms\nbatch = 64\ncompute = 64ms\ncores = 16"));
  std::vector<std::int64_t> ran;
  for (const Case& one : found.experiment.cases) {
    if (!one.runs.empty()) ran.push_back(one.config.loader.num_workers);
  }
  EXPECT_THAT(ran, ::testing::IsSupersetOf({4, 8, 12}));
}

TEST(Tune, KeepsTheGpuBusyForAsLittleAsPossible) {
  TuneOptions options;
  options.goal.busy = 0.7;
  const Tune found = tuned(scenario("cost = decode=8ms\nbatch = 64\ncompute = 64ms\ncores = 16"),
                           {"workers=2,4,6,8,12"}, options);
  ASSERT_TRUE(found.recommended);
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.num_workers, 6);
  EXPECT_TRUE(found.proven && found.goal_reached);
}

TEST(Tune, SaysWhenNothingKeepsTheGpuBusy) {
  TuneOptions options;
  options.goal.busy = 0.95;
  const Tune found = tuned(scenario("cost = decode=8ms\nbatch = 64\ncompute = 64ms\ncores = 16"),
                           {"workers=1,2,4"}, options);
  ASSERT_TRUE(found.recommended);
  EXPECT_FALSE(found.goal_reached);
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.num_workers, 4);
  EXPECT_EQ(found.limit, "decode");
  std::ostringstream out;
  write_table(out, make_result(found, ""), ReportStyle{200, false});
  EXPECT_THAT(out.str(), HasSubstr("no setting of the grid keeps the GPU 95 % busy"));
}

TEST(Tune, ProvesNothingWithoutItsRivals) {
  TuneOptions options;
  options.budget = 9 * kSecond;
  const Tune found =
      tuned(scenario("cost = decode=8ms\nbatch = 64\ncompute = 64ms\ncores = 16"), kGrid, options);
  ASSERT_TRUE(found.recommended);
  EXPECT_TRUE(found.experiment.budget_spent);
  EXPECT_FALSE(found.proven);
  std::ostringstream out;
  write_table(out, make_result(found, ""), ReportStyle{200, false});
  EXPECT_THAT(out.str(), HasSubstr("not proven"));
}

TEST(Tune, SkipsCasesThatWouldNotFit) {
  TuneOptions options;
  options.max_workers = 4;
  options.max_memory = Bytes{300} << 20;
  const Tune found =
      tuned(scenario("cost = decode=8ms\nbatch = 64\ncompute = 64ms\ncores = 16"), kGrid, options);
  for (std::size_t i = 0; i < found.candidates.size(); ++i) {
    const Case& one = found.experiment.cases[i];
    const bool fits =
        one.config.loader.num_workers <= 4 && case_price(one.config).slots <= Bytes{300} << 20;
    EXPECT_EQ(found.candidates[i].refused.empty(), fits) << changes_to_text(one.changes);
    EXPECT_TRUE(fits || one.runs.empty());
  }
}

// A model that knows nothing of what many workers do to each other, as caches do.
TEST(Tune, FindsThatMoreWorkersAreSlowerWhereTheModelDoesNotKnow) {
  ExperimentContext context = test::model_context();
  context.run = [model = context.run](const RunConfig& config) {
    RunConfig slowed = config;
    const double crowd = config.loader.num_workers > 4 ? 0.7 : 1;
    for (Cost& cost : slowed.declared.cost.value)
      cost = parse_cost("decode=" + duration_to_text(std::llround(8e6 / crowd)));
    return model(slowed);
  };
  const FitForecaster declared = [](const RunRecord& record) {
    RunConfig config = record.config;
    config.declared.cost.set({parse_cost("decode=8ms")});
    RunRecord plain;
    plain.engine = "model";
    return [config](const Changes& changes) {
      std::vector<std::string> notes;
      RunConfig changed = configure(config, changes, {16});
      changed.measure.steps.set(200);
      changed.measure.duration.given = false;
      const Analysis analysis = analyse(run_engine(changed, {}));
      return Forecast{analysis.samples_per_s.mean, analysis.busy.mean};
    };
  };
  const Tune found =
      tune(plan(scenario("cost = decode=8ms\nbatch = 16\ncompute = 20ms\ncores = 16"),
                {"workers=1,2,4,5,6"}),
           context, {}, declared);
  ASSERT_TRUE(found.recommended && found.best);
  // 4 workers: a batch in 32 ms; 5: in 36.6; 6: in 30.5, within 5 % of each other.
  EXPECT_GT(found.error_worst, 0.1);
  EXPECT_EQ(found.experiment.cases[*found.best].config.loader.num_workers, 6);
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.num_workers, 6);
}

TEST(Tune, SkipsAStratumWhoseProbeFails) {
  ExperimentContext context = test::model_context();
  context.run = [model = context.run](const RunConfig& config) {
    if (config.loader.memory == MemoryMode::pinned_slots)
      throw RunError("no memory-lock allowance");
    return model(config);
  };
  const Tune found = tune(plan(scenario("cost = decode=1ms\nbatch = 8\ncompute = 4ms\ncores = 4"),
                               {"workers=1,2,4", "memory=pageable,pinned-slots"}),
                          context, {}, fit_forecaster);
  for (const Case& one : found.experiment.cases) {
    const bool pinned = one.config.loader.memory == MemoryMode::pinned_slots;
    EXPECT_EQ(one.skipped, pinned ? "no memory-lock allowance" : "");
  }
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.memory, MemoryMode::pageable);
}

TEST(Tune, LeavesGivenSettingsOutOfDefaultAxes) {
  RunConfig base = scenario("cost = decode=1ms\nprefetch = 4");
  const Axes axes = default_axes(base, {4}, std::nullopt);
  ASSERT_EQ(axes.size(), 2U);
  EXPECT_THAT(axes[0].values, ::testing::ElementsAre("0", "1", "2", "3", "4", "6", "8"));
  EXPECT_EQ(axes[1].key, "memory");
}

TEST(Tune, TriesOfSomebodyElsesLoaderOnlyWhatItHas) {
  RunConfig base;
  base.program.loader.set("train.py:make");
  const Axes axes = default_axes(base, {4}, std::nullopt);
  ASSERT_EQ(axes.size(), 3U);
  EXPECT_EQ(axes[2], (Axis{"pin-memory", {"false", "true"}}));
}

TEST(Tune, TakesOverWhatSomebodyElsesLoaderTurnsOutToBe) {
  RunConfig base;
  base.program.loader.set("train.py:make");
  Experiment experiment =
      plan_experiment(base, parse_axes({"workers=0,2", "pin-memory=false,true"}), false, {4});
  RunConfig measured;
  measured.loader.batch_size.value = 8;
  measured.loader.num_workers.value = 6;
  measured.loader.prefetch_factor.value = 3;
  measured.loader.memory.value = MemoryMode::pageable;
  adopt_loader(experiment, measured);
  const RunConfig& last = experiment.cases.back().config;
  EXPECT_EQ(last.loader.batch_size, 8);
  EXPECT_EQ(last.loader.num_workers, 2);
  EXPECT_EQ(last.loader.prefetch_factor, 3);
  EXPECT_EQ(last.loader.memory, MemoryMode::pin_thread);
  EXPECT_EQ(experiment.cases.front().config.loader.executor, Executor::inline_);
  EXPECT_THAT(data_loader_call(last), HasSubstr("batch_size=8, num_workers=2, prefetch_factor=3"));
}

// A run with other workers says nothing of those that the program has by itself.
TEST(Tune, KeepsWhatARunChangedFromThePresentSettings) {
  RunConfig base;
  base.program.loader.set("train.py:make");
  Experiment experiment =
      plan_experiment(base, parse_axes({"workers=0,2"}), true, {4});  // the base case is the first
  ASSERT_TRUE(experiment.cases.front().changes.empty());
  RunConfig measured;
  measured.loader.num_workers.value = 6;
  measured.loader.batch_size.value = 8;
  adopt_loader(experiment, measured);
  measured.loader.num_workers.value = 2;
  adopt_loader(experiment, measured, {{"num-workers", "2"}});
  EXPECT_EQ(experiment.cases.front().config.loader.num_workers, 6);
  EXPECT_EQ(experiment.cases.front().config.loader.batch_size, 8);
}

TEST(Tune, CallsForAPipelineOfDaliOnlyWhereItIsOne) {
  RunConfig config;
  for (const char* engine : {"native", "model", "torch", "webdataset"}) {
    config.engine.value = engine;
    EXPECT_TRUE(is_for_data_loader(config)) << engine;
  }
  config.engine.value = "dali";
  EXPECT_FALSE(is_for_data_loader(config));
  EXPECT_THAT(dali_arguments(config), HasSubstr("num_threads="));
}

TEST(Tune, RefusesToLockMoreThanIsAllowed) {
  RunConfig config;
  config.data.source.value = "files";
  config.data.paths.value = {"photos"};
  config.loader.num_workers.value = 2;
  TuneOptions options;
  options.lockable = Bytes{8} << 20;
  config.loader.memory.value = MemoryMode::pinned_slots;
  EXPECT_THAT(reason_not_to_run(config, options, 0), HasSubstr("ulimit -l"));
  config.loader.memory.value = MemoryMode::pageable;
  EXPECT_EQ(reason_not_to_run(config, options, 0), "");
  config.loader.memory.value = MemoryMode::pinned_slots;
  config.trainer.device.value = "cuda";
  EXPECT_EQ(reason_not_to_run(config, options, 0), "");
}

TEST(Tune, ReadsTheGoal) {
  EXPECT_DOUBLE_EQ(parse_busy_goal("gpu:0.95"), 0.95);
  EXPECT_DOUBLE_EQ(parse_busy_goal("gpu:95%"), 0.95);
  EXPECT_THROW(parse_busy_goal("0.95"), ValueError);
  EXPECT_THROW(parse_busy_goal("gpu:95"), ValueError);
}

}  // namespace
}  // namespace loaderscope
