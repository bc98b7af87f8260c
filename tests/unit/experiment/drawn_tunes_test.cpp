// The tuner on drawn workloads whose runs differ from each other as those of a machine do, in
// virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/hash.h"
#include "experiment/settings.h"
#include "experiment/tune.h"
#include "record/environment_changes.h"
#include "unit/experiment/model_context.h"

namespace loaderscope {
namespace {

using test::plan;
using test::scenario;
using test::true_rate;

const std::vector<std::string> kThirteen = {"workers=0,1,2,3", "prefetch=1,2,4,8"};
const std::vector<std::string> kThreeAxes = {"workers=0,1,2,3,4,6,8", "prefetch=1,2,4,8",
                                             "memory=pageable,pinned-slots"};

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(mixed(seed, 1)) {}

  double uniform() { return (static_cast<double>(next_bits(seed_) >> 11) + 0.5) * 0x1p-53; }
  double between(double low, double high) { return low * std::pow(high / low, uniform()); }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t seed_;
};

// Varies the cost of a sample from run to run, by a deviation of `noise`.
ExperimentContext noisy_laboratory(double noise, std::uint64_t seed) {
  ExperimentContext context = test::model_context();
  context.run = [=, model = context.run,
                 draws = std::make_shared<Draws>(seed)](const RunConfig& config) {
    RunConfig changed = config;
    const double factor = std::exp(noise * draws->normal());
    for (const Stage stage : {Stage::read, Stage::decode}) make_faster(changed, {stage, factor});
    return model(changed);
  };
  return context;
}

std::string drawn_workload(std::uint64_t seed) {
  Draws draws(seed);
  const auto whole = [&](double low, double high) {
    return std::to_string(std::llround(draws.between(low, high)));
  };
  return "cost = decode=lognormal:" + whole(300, 6000) + "us:0.4\ncost = read=" + whole(50, 4000) +
         "us:sleep\nbatch = " + whole(4, 32) + "\ncompute = " + whole(5, 80) +
         "ms\ncores = " + whole(2, 12);
}

double share_of_best(const Tune& found) {
  double best = 0;
  for (const Case& one : found.experiment.cases) best = std::max(best, true_rate(one.config, 1500));
  return true_rate(found.experiment.cases[*found.recommended].config, 1500) / best;
}

Tune tuned(const std::string& lines, const std::vector<std::string>& axes, double noise,
           std::uint64_t seed, const TuneOptions& options = {}) {
  return tune(plan(scenario(lines), axes), noisy_laboratory(noise, seed), options);
}

Nanos time_of_sweep(const std::string& lines, const std::vector<std::string>& axes, double noise,
                    std::uint64_t seed) {
  Experiment experiment = plan(scenario(lines), axes);
  run_sweep(experiment, noisy_laboratory(noise, seed), {});
  return experiment.spent;
}

std::int64_t draws() {
  const char* wanted = std::getenv("LOADERSCOPE_DRAWS");
  return wanted == nullptr ? 12 : std::atoll(wanted);
}

// LOADERSCOPE_DRAWS=200 for hours by hand.
TEST(DrawnTunes, FindsNearBestInLessTimeThanGrid) {
  std::int64_t good = 0, all = 0;
  for (std::int64_t seed = 1; seed <= draws(); ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const std::vector<std::string>& axes = seed % 2 == 0 ? kThirteen : kThreeAxes;
    const double noise = seed % 3 == 0 ? 0.03 : seed % 3 == 1 ? 0.01 : 0;
    const std::string lines = drawn_workload(s);
    const Tune found = tuned(lines, axes, noise, s);
    ASSERT_TRUE(found.recommended) << lines;
    EXPECT_LE(found.experiment.spent, time_of_sweep(lines, axes, noise, s)) << lines;
    const double share = share_of_best(found);
    ++all;
    good += share >= 0.97 ? 1 : 0;
    if (share < 0.97 || std::getenv("LOADERSCOPE_DRAWS") != nullptr) {
      std::printf("%lld: %.3f of the best, %s, %.0f s, %s\n%s\n", static_cast<long long>(seed),
                  share, found.proven ? "proven" : "not proven", seconds(found.experiment.spent),
                  changes_to_text(found.experiment.cases[*found.recommended].changes).c_str(),
                  lines.c_str());
    }
  }
  EXPECT_GE(static_cast<double>(good), 0.95 * static_cast<double>(all) - 0.5);
}

// Two cores decode for a GPU that takes a sixth of the time: 2 workers and all above them are about
// as good, which no number of runs would prove.
TEST(DrawnTunes, EndsBeforeGridForPhotographsOnTwoCores) {
  const std::string lines =
      "cost = decode=lognormal:2ms:0.3\nbatch = 64\ncompute = 10ms\ncores = 2";
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Tune found = tuned(lines, kThirteen, 0.02, seed);
    ASSERT_TRUE(found.recommended);
    EXPECT_LT(found.experiment.spent, time_of_sweep(lines, kThirteen, 0.02, seed));
    EXPECT_GE(share_of_best(found), 0.97);
    const std::int64_t workers =
        found.experiment.cases[*found.recommended].config.loader.num_workers;
    EXPECT_GE(workers, 2);
    EXPECT_LE(workers, 3);
  }
}

// One worker is sometimes late, but the GPU takes longer on average.
TEST(DrawnTunes, RecommendsOneWorkerIfNearlyAsGoodAsEight) {
  const std::string lines = "cost = decode=lognormal:1ms:0.4\nbatch = 8\ncompute = 11ms\ncores = 8";
  const RunConfig least = plan(scenario(lines), {"workers=1", "prefetch=1"}).cases[0].config;
  ASSERT_GE(true_rate(least, 1500) * 0.011 / 8, 0.98);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Tune found = tuned(lines, {"workers=1,2,4,8", "prefetch=1,2,4,8"}, 0.01, seed);
    ASSERT_TRUE(found.recommended);
    const RunConfig& use = found.experiment.cases[*found.recommended].config;
    EXPECT_EQ(use.loader.num_workers, 1);
    EXPECT_EQ(use.loader.prefetch_factor, 1);
  }
}

// One run of each cannot distinguish 3.2 % from 3 %. The answer is the cheaper case, and not the
// one that was faster by chance.
TEST(DrawnTunes, RecommendsCheapestPossibleIfNothingIsProven) {
  ExperimentContext context = test::model_context();
  context.run = [model = context.run](const RunConfig& config) {
    RunConfig changed = config;
    if (config.loader.num_workers == 1) make_faster(changed, {Stage::decode, 0.968});
    return model(changed);
  };
  TuneOptions options;
  options.budget = 1200 * kMillisecond;
  const Tune found = tune(
      plan(scenario("cost = decode=400us\nbatch = 8\ncompute = 1ms\ncores = 1"), {"workers=1,2"}),
      context, options);
  ASSERT_TRUE(found.recommended);
  EXPECT_FALSE(found.proven);
  EXPECT_EQ(found.experiment.cases[0].runs.size() + found.experiment.cases[1].runs.size(), 2U);
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.num_workers, 1);
}

// Other programs take one of two cores.
Tune tuned_with_others(double other_cores) {
  ExperimentContext context = test::model_context();
  context.run = [=, model = context.run](const RunConfig& config) {
    RunConfig less = config;
    less.declared.cores.set(2 - other_cores);
    RunRecord record = model(less);
    const double window = seconds(record.ranks.front().window());
    record.metrics.push_back({"host.other_cpu_s", "s", "for a test", other_cores * window});
    return record;
  };
  // 8 ms of CPU time for a sample, on as many cores as there are workers and cores.
  const FitForecaster cpu_time_fit = [=](const RunRecord&) {
    return [=](const Changes& changes) {
      double workers = 1, cores = 2 - other_cores;
      for (const Change& change : changes) {
        if (change.key == "num-workers") workers = std::stod(change.value);
        if (change.key == kOtherThreads) cores = 2;
      }
      return Forecast{std::min(workers, cores) / 0.008, 0};
    };
  };
  return tune(
      plan(scenario("cost = decode=8ms\nbatch = 8\ncompute = 1ms\ncores = 2"), {"workers=1,2,3"}),
      context, {}, cpu_time_fit);
}

TEST(DrawnTunes, AddsAnswerForMachineWithoutOtherPrograms) {
  const Tune found = tuned_with_others(1);
  ASSERT_TRUE(found.recommended && found.alone);
  EXPECT_EQ(found.experiment.cases[*found.recommended].config.loader.num_workers, 1);
  EXPECT_NEAR(found.alone->other_cores, 1, 1e-6);
  ASSERT_TRUE(found.alone->cheapest);
  EXPECT_EQ(found.experiment.cases[*found.alone->cheapest].config.loader.num_workers, 2);
  EXPECT_NEAR(found.alone->samples_per_s, 250, 1e-6);
  EXPECT_FALSE(tuned_with_others(0.1).alone);
}

}  // namespace
}  // namespace loaderscope
