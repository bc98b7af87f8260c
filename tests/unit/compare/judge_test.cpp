// Verdicts of thousands of simulated jobs, with arms that are alike and arms that differ.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "experiment/compare/compare.h"
#include "experiment/compare/compared_quantities.h"

namespace loaderscope::compare {
namespace {

constexpr int kJobs = 10'000;

// Differences between the processes of a job. `spread`, `own` and `walk` are standard deviations.
struct World {
  double spread = 0.01;  // common part of all quantities of a process
  double own = 0.003;    // remaining part of each quantity
  double drift = 0;      // slowdown from the first run to the last
  double decode = 1;     // times as long in B
  double walk = 0;       // change of speed from run to run
  std::int64_t blocks = 6;
};

class Jobs {
 public:
  explicit Jobs(World world) : world_(world) {}

  Comparison next() {
    Comparison job;
    job.cores = 2;
    job.planned_pairs = 2 * world_.blocks;
    const std::int64_t runs = 4 * world_.blocks;
    double state = 1;
    for (std::int64_t i = 0; i < runs; ++i) {
      const std::int64_t arm = (i % 4 == 1 || i % 4 == 2) ? 1 : 0;
      const double late = world_.drift * static_cast<double>(i) / static_cast<double>(runs);
      state *= varied(world_.walk);
      job.runs.push_back(run(i / 4, arm, state * (1 + late) * varied(world_.spread)));
    }
    return job;
  }

 private:
  double varied(double spread) { return std::exp(spread * normal_(random_)); }

  SideRun run(std::int64_t block, std::int64_t arm, double process) {
    SideRun result;
    result.block = block;
    result.arm = arm;
    double all = 0;
    for (const auto& [name, seconds] : {std::pair("read", 0.2e-3), std::pair("decode", 2e-3),
                                        std::pair("augment", 1e-3), std::pair("collate", 0.3e-3)}) {
      const bool slower = arm == 1 && std::string_view(name) == "decode";
      const double time = seconds * (slower ? world_.decode : 1) * process * varied(world_.own);
      result.quantities.emplace_back(name, time);
      result.quantities.emplace_back(std::string(name) + std::string(kWall), time);
      all += time;
    }
    result.quantities.emplace_back("cpu-per-sample", all);
    result.quantities.emplace_back("samples-per-s", 2 / all * varied(world_.own));
    result.quantities.emplace_back("memory", 100e6 * varied(0.02));
    result.quantities.emplace_back("first-batch", 0.3 * varied(0.1));
    return result;
  }

  World world_;
  std::mt19937_64 random_{20241122};
  std::normal_distribution<double> normal_;
};

// The share of the jobs of which it is true.
double share_of_jobs(const World& world,
                     const std::function<bool(const ComparisonResult&)>& is_true) {
  Jobs jobs(world);
  int count = 0;
  for (int i = 0; i < kJobs; ++i) count += is_true(judge(jobs.next())) ? 1 : 0;
  return static_cast<double>(count) / kJobs;
}

bool alarms(const ComparisonResult& judgement) {
  return judgement.verdict == Outcome::worse || judgement.verdict == Outcome::better;
}

// 10,000 jobs at 1 % may give 1.3 % by chance (three standard deviations).
constexpr double kMaxAlarms = 0.013;

TEST(JudgedJobs, RaisesNoAlarmForEqualArmsAtAnySpread) {
  for (const double spread : {0.01, 0.05, 0.3})
    EXPECT_LE(share_of_jobs({.spread = spread}, alarms), kMaxAlarms) << spread;
}

TEST(JudgedJobs, RaisesNoAlarmWhenMachineSlowsDown) {
  EXPECT_LE(share_of_jobs({.drift = 0.3}, alarms), kMaxAlarms);
  EXPECT_LE(share_of_jobs({.walk = 0.03}, alarms), kMaxAlarms);
  EXPECT_LE(share_of_jobs({.drift = 0.3, .blocks = 3}, alarms), kMaxAlarms);
}

TEST(JudgedJobs, FindsAndNamesFivePercentOfDecode) {
  const auto named = [](const ComparisonResult& judgement) {
    return judgement.verdict == Outcome::worse && judgement.blamed() != nullptr &&
           judgement.blamed()->name == "decode";
  };
  EXPECT_GE(share_of_jobs({.decode = 1.05}, named), 0.95);
  EXPECT_GE(share_of_jobs({.drift = 0.3, .decode = 1.05}, named), 0.95);
}

TEST(JudgedJobs, DistinguishesSlowdownOfFivePercent) {
  const auto same = [](const ComparisonResult& judgement) {
    return judgement.find("decode")->verdict == Outcome::same;
  };
  for (const double spread : {0.01, 0.05, 0.3})
    EXPECT_LE(share_of_jobs({.spread = spread, .decode = 1.05}, same), 0.01) << spread;
}

TEST(JudgedJobs, LeavesFewQuietJobsUndecided) {
  const auto open = [](const ComparisonResult& judgement) {
    return judgement.verdict == Outcome::cannot_tell;
  };
  EXPECT_LE(share_of_jobs({}, open), 0.1);
}

Comparison noisy_job() { return Jobs({.spread = 0.05}).next(); }

TEST(Judge, SaysHowManyPairsWouldDo) {
  const ComparisonResult judgement = judge(noisy_job());
  EXPECT_EQ(judgement.verdict, Outcome::cannot_tell);
  EXPECT_GT(judgement.more_pairs, 12);
  EXPECT_EQ(judgement.pairs, 12);
}

TEST(Judge, ComparesTheJobWithItself) {
  const ComparisonResult judgement = judge(noisy_job());
  ASSERT_TRUE(judgement.against_itself);
  EXPECT_EQ(judgement.pairs_of_itself, 11);  // B B of each block, and A A between two
  EXPECT_LT(judgement.against_itself->low, 0);
  EXPECT_GT(judgement.against_itself->high, 0);
}

TEST(Judge, LeavesOutRunDisturbedByOthers) {
  Comparison job = Jobs({}).next();
  job.runs[5].other_cores = 1;
  const ComparisonResult judgement = judge(job);
  EXPECT_EQ(judgement.disturbed, 1);
  EXPECT_EQ(judgement.pairs, 11);
}

TEST(Judge, CountsAllRunsWhenOthersAlwaysRun) {
  Comparison job = Jobs({}).next();
  for (SideRun& run : job.runs) run.other_cores = 1;
  EXPECT_EQ(judge(job).disturbed, 0);
}

TEST(Judge, IgnoresRunWithoutPair) {
  Comparison job = Jobs({}).next();
  job.runs.pop_back();
  EXPECT_EQ(judge(job).pairs, 11);
  job.runs.resize(1);
  EXPECT_EQ(judge(job).pairs, 0);
  EXPECT_EQ(judge(job).verdict, Outcome::cannot_tell);
}

Comparison with_counts(double a, double b) {
  Comparison job = Jobs({.spread = 0.3}).next();
  for (SideRun& run : job.runs) {
    run.counts.emplace_back("decodes", run.arm == 0 ? a : b);
    run.counts.emplace_back("bytes-read", 100.0 + static_cast<double>(run.block));
  }
  return job;
}

TEST(Judge, FindsMoreWorkOnNoisyMachine) {
  const ComparisonResult judgement = judge(with_counts(1, 2));
  EXPECT_EQ(judgement.verdict, Outcome::worse);
  ASSERT_EQ(judgement.counts.size(), 2U);
  EXPECT_EQ(judgement.counts[0].name, "decodes");
  EXPECT_TRUE(judgement.counts[0].changed());
  EXPECT_FALSE(judgement.counts[1].changed());
}

TEST(Judge, FlagsMayChangeTheWork) {
  Comparison job = with_counts(1, 2);
  job.same_flags = false;
  EXPECT_NE(judge(job).verdict, Outcome::worse);
}

TEST(Judge, TreatsUnrepeatedCountAsInexact) {
  Comparison job = with_counts(1, 1);
  job.runs[0].counts[0].second = 1.5;
  const ComparisonResult judgement = judge(job);
  EXPECT_EQ(judgement.uncounted, std::vector<std::string>{"decodes"});
}

// In one block both runs of B flicker, and no other run does.
TEST(Judge, RaisesNoAlarmForFlickerInFewRuns) {
  Comparison job = with_counts(1, 1);
  for (SideRun& run : job.runs) {
    if (run.block == 2 && run.arm == 1) run.counts[0].second = 2;
  }
  EXPECT_NE(judge(job).verdict, Outcome::worse);
  EXPECT_EQ(judge(job).uncounted, std::vector<std::string>{"decodes"});
  for (SideRun& run : job.runs) {
    if (run.block <= 3 && run.arm == 1) run.counts[0].second = 2;
  }
  EXPECT_EQ(judge(job).verdict, Outcome::worse);  // four blocks agree
  for (SideRun& run : job.runs) {
    if (run.block == 4 && run.arm == 0) run.counts[0].second = 2;
  }
  EXPECT_EQ(judge(job).uncounted, std::vector<std::string>{"decodes"});  // and one does not
}

TEST(JudgedJobs, RaisesNoAlarmsForFlickeringCounts) {
  std::mt19937 random(7);
  int alarms = 0;
  for (int job = 0; job < 2000; ++job) {
    Comparison comparison = with_counts(1, 1);
    comparison.runs.resize(12);
    comparison.planned_pairs = 6;
    const double chance = std::uniform_real_distribution<double>(0, 0.5)(random);
    for (SideRun& run : comparison.runs) {
      run.counts.resize(1);
      run.counts[0].second = std::bernoulli_distribution(chance)(random) ? 1 : 2;
    }
    ComparisonResult judgement;
    compare_counts(judgement, comparison);
    alarms += !judgement.counts.empty() && judgement.counts[0].changed();
  }
  EXPECT_LE(alarms, 2);
}

TEST(Judge, NamesWhatIsNew) {
  Comparison job = Jobs({.decode = 1.2}).next();
  for (SideRun& run : job.runs) {
    run.details.push_back({"augment", "RandomCrop", 0.5});
    run.details.push_back({"host.other_cpu_s", run.arm == 1 ? "cc1plus" : "ld", 0.5});
    if (run.arm == 1) run.details.push_back({"augment", "RandomErasing", 0.5});
  }
  EXPECT_EQ(judge(job).new_names, std::vector<std::string>{"augment RandomErasing"});
  EXPECT_TRUE(judge(job).gone_names.empty());
}

TEST(Judge, NamesTheFunctionThatChanged) {
  Comparison job = Jobs({.decode = 1.2}).next();
  for (SideRun& run : job.runs) {
    const double grown = run.arm == 1 ? 0.25 : 0.1;  // share of a stage that is a fifth longer
    run.details.push_back(
        {"decode", run.arm == 1 ? "tile (photos.py:41)" : "tile (photos.py:31)", grown});
    run.details.push_back({"decode", "PIL.Image.convert", 1 - grown});
  }
  const ComparisonResult judgement = judge(job);
  ASSERT_EQ(judgement.name_changes.size(), 2U);
  EXPECT_EQ(judgement.name_changes[0].name, "tile (photos.py)");
  EXPECT_GT(judgement.name_changes[0].b, 2.5 * judgement.name_changes[0].a);
}

TEST(Judge, IgnoresMovedLines) {
  Comparison job = Jobs({.decode = 1.2}).next();
  for (SideRun& run : job.runs)
    run.details.push_back({"opaque", run.arm == 1 ? "f (a.py:2)" : "f (a.py:1)", 1});
  EXPECT_TRUE(judge(job).new_names.empty());
}

TEST(Judge, SaysThatSlowdownMattersWithoutSpareWorkers) {
  Comparison job = Jobs({.decode = 1.2}).next();
  job.options.rate_needed = 1000;
  job.options.workers = 8;
  const ComparisonResult roomy = judge(job);
  ASSERT_TRUE(roomy.matters);
  EXPECT_FALSE(roomy.matters->gpu_waits());
  EXPECT_NEAR(roomy.matters->margin_a, 1 - 3.5 / 8, 0.02);
  EXPECT_NEAR(roomy.matters->margin_b, 1 - 3.9 / 8, 0.02);
  job.options.rate_needed = 2200;
  EXPECT_TRUE(judge(job).matters->gpu_waits());
  job.options.workers = 0;
  job.options.rate_needed = 1000;
  job.workers = 8;
  job.workers_of_b = 4;
  const ComparisonResult fewer = judge(job);
  EXPECT_NEAR(fewer.matters->margin_a, 1 - 3.5 / 8, 0.02);
  EXPECT_NEAR(fewer.matters->margin_b, 1 - 3.9 / 4, 0.04);
  job.workers_of_b = 0;  // the trainer of B makes the batches
  EXPECT_FALSE(judge(job).matters);
  job.workers_of_b.reset();
  job.runs.resize(1);  // interrupted before B
  EXPECT_FALSE(judge(job).matters);
}

}  // namespace
}  // namespace loaderscope::compare
