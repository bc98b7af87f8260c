#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "experiment/case_run.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"
#include "unit/experiment/model_context.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

using test::plan;
using test::scenario;
using ::testing::HasSubstr;

constexpr const char* kDecodeBound = "cost = decode=8ms\ncompute = 12ms\nbatch = 4\ncores = 8";

// 32 ms of decoding for a batch: one in 32, 16, 12 ms.
TEST(Sweep, FindsTheBestAndTheKnee) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2,3,4,6"});
  run_sweep(experiment, test::model_context(), {});
  const SweepAnswer answer = judge_sweep(experiment);
  ASSERT_TRUE(answer.best && answer.knee);
  EXPECT_EQ(*answer.knee, 2U);
  EXPECT_NEAR(answer.rate[0]->mean, 125, 1e-6);
  EXPECT_NEAR(answer.rate[1]->mean, 250, 1e-6);
  EXPECT_NEAR(answer.rate[2]->mean, 4 / 0.012, 1e-6);
  EXPECT_NEAR(answer.busy[1]->mean, 0.75, 1e-6);
}

TEST(Sweep, RejectsUncertainCaseAsKnee) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2,3"});
  const auto run_at = [](double mean, double half) {
    CaseRun run;
    run.samples_per_s = {mean, mean - half, mean + half};
    run.steps = 20;
    return run;
  };
  experiment.cases[0].runs = {run_at(150, 140)};
  experiment.cases[1].runs = {run_at(290, 5)};
  experiment.cases[2].runs = {run_at(300, 5)};
  EXPECT_EQ(*judge_sweep(experiment).knee, 1U);
}

TEST(Sweep, SaysHowSureTheKneeIs) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2"});
  const auto run_at = [](double mean, double half) {
    CaseRun run;
    run.samples_per_s = {mean, mean - half, mean + half};
    run.steps = 20;
    return run;
  };
  const auto knee_at = [&](double mean) {
    experiment.cases[0].runs = {run_at(mean, 15)};
    experiment.cases[1].runs = {run_at(300, 5)};
    std::ostringstream text;
    write_table(text, make_result(experiment, "1.0"), {300, false, false});
    return text.str();
  };
  EXPECT_THAT(knee_at(284), HasSubstr(" (not shown to be 3 % slower)\n"));
  EXPECT_THAT(knee_at(292), HasSubstr("(within 3 %)\n"));
}

TEST(Sweep, ListsCasesAsGoodAsBest) {
  Experiment experiment = plan(scenario(kDecodeBound), {"persistent-workers=false,true"});
  run_sweep(experiment, test::model_context(), {});
  std::ostringstream text;
  write_table(text, make_result(experiment, "1.0"), {300, false, false});
  EXPECT_THAT(text.str(), HasSubstr("; persistent-workers=true may be as fast"));
}

TEST(Sweep, RunsEachCaseTwiceWhereNothingVaries) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2,3"});
  run_sweep(experiment, test::model_context(), {});
  for (const Case& one : experiment.cases) {
    EXPECT_EQ(one.runs.size(), 2U);
    EXPECT_GE(one.runs.back().steps, fewest_steps(one.config));
  }
  EXPECT_FALSE(experiment.budget_spent);
}

TEST(Sweep, RunsUntilTheIntervalIsNarrowEnough) {
  const RunConfig base = scenario(
      "cost = decode=exponential:8ms\nbatch = 1\ncompute = 1ms\n"
      "cores = 8");
  const auto runs_at = [&](double precision) {
    Experiment experiment = plan(base, {"workers=1,2"});
    SweepOptions options;
    options.precision = precision;
    options.budget = 8 * kSecond;
    run_sweep(experiment, test::model_context(), options);
    return experiment.cases[0].runs.size() + experiment.cases[1].runs.size();
  };
  EXPECT_LE(runs_at(0.5), runs_at(0.02));
  EXPECT_EQ(runs_at(0.5), 4U);
}

TEST(Sweep, RunsTheSeedsThatItShows) {
  Experiment experiment = plan(scenario(kDecodeBound), {"seed=109,7"});
  ExperimentContext context = test::model_context();
  std::vector<std::int64_t> seeds;
  context.run = [&, model = context.run](const RunConfig& config) {
    seeds.push_back(config.measure.seed);
    return model(config);
  };
  run_sweep(experiment, context, {});
  EXPECT_THAT(seeds, ::testing::UnorderedElementsAre(109, 109, 7, 7));
}

TEST(Sweep, StopsWhenTheBudgetIsSpent) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2,3,4,6"});
  SweepOptions options;
  options.budget = 3 * kSecond;
  run_sweep(experiment, test::model_context(), options);
  EXPECT_TRUE(experiment.budget_spent);
  EXPECT_LT(experiment.spent, 4 * kSecond);
}

TEST(Sweep, SaysWhatABudgetTooShortForOneCaseWouldHaveToBe) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2"});
  SweepOptions options;
  options.budget = kMillisecond;
  try {
    run_sweep(experiment, test::model_context(), options);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("too short for one case, which takes about"));
    EXPECT_THAT(error.what(), HasSubstr("2 cases need a budget of about"));
  }
}

TEST(Sweep, ContinuesAfterFailedCase) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2"});
  ExperimentContext context = test::model_context();
  context.run = [model = context.run](const RunConfig& config) {
    if (config.loader.num_workers == 1) throw RunError("the disk is gone");
    return model(config);
  };
  run_sweep(experiment, context, {});
  EXPECT_EQ(experiment.cases[0].skipped, "the disk is gone");
  EXPECT_EQ(experiment.cases[1].runs.size(), 2U);
  EXPECT_EQ(reason_for_nothing(experiment), "");
}

TEST(Sweep, SaysTheCommonestReasonWhereEveryCaseFails) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2,3"});
  ExperimentContext context = test::model_context();
  context.run = [](const RunConfig& config) -> RunRecord {
    throw RunError(config.loader.num_workers == 2 ? "rare" : "common");
  };
  run_sweep(experiment, context, {});
  EXPECT_EQ(reason_for_nothing(experiment), "common");
}

TEST(Sweep, KeepsWhatItHasWhenItIsStopped) {
  Experiment experiment = plan(scenario(kDecodeBound), {"workers=1,2,3"});
  ExperimentContext context = test::model_context();
  int runs = 0;
  context.after_run = [&](const Experiment&, Nanos) { ++runs; };
  context.stopped = [&] { return runs >= 2; };
  run_sweep(experiment, context, {});
  EXPECT_TRUE(experiment.interrupted);
  EXPECT_EQ(runs, 2);
}

class ResumedSweep : public testing::Test {
 protected:
  // A sweep that was stopped after two runs, saved.
  ResumedSweep() {
    Experiment experiment = plan(base_, axes_);
    ExperimentContext context = test::model_context();
    int runs = 0;
    context.after_run = [&](const Experiment&, Nanos) { ++runs; };
    context.stopped = [&] { return runs >= 2; };
    run_sweep(experiment, context, {});
    std::ofstream out(path_);
    write_json(out, make_result(experiment, "1.0"));
  }

  std::string refusal(const RunConfig& base, const std::vector<std::string>& axes) const {
    Experiment experiment = plan(base, axes);
    try {
      resume_sweep(path_, experiment);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  RunConfig base_ = scenario(kDecodeBound);
  std::vector<std::string> axes_ = {"workers=1,2,3"};
  source::TempFolder folder_;
  std::string path_ = folder_ / "sweep.json";
};

TEST_F(ResumedSweep, RunsOnlyWhatIsMissing) {
  Experiment experiment = plan(base_, axes_);
  resume_sweep(path_, experiment);
  int runs = 0;
  ExperimentContext context = test::model_context();
  context.after_run = [&](const Experiment&, Nanos) { ++runs; };
  run_sweep(experiment, context, {});
  EXPECT_EQ(runs, 4);

  Experiment whole = plan(base_, axes_);
  run_sweep(whole, test::model_context(), {});
  std::ostringstream resumed, in_one;
  write_table(resumed, make_result(experiment, ""), {});
  whole.spent = experiment.spent;
  write_table(in_one, make_result(whole, ""), {});
  EXPECT_EQ(resumed.str(), in_one.str());
}

TEST_F(ResumedSweep, RefusesAnotherSweepAndNamesTheFirstDifference) {
  EXPECT_THAT(refusal(base_, {"workers=1,2,4"}),
              HasSubstr("--vary num-workers is 1 2 3 there and 1 2 4 here"));
  RunConfig other = base_;
  set_field(other, "", "compute", "14ms");
  EXPECT_THAT(refusal(other, axes_), HasSubstr("compute is 12ms there and 14ms here"));
  EXPECT_THAT(refusal(base_, {"workers=1,2,3", "prefetch=2"}),
              HasSubstr("prefetch-factor is not given there"));
}

// A loader with four workers and batches of 32, unless the config has other values.
RunRecord run_of_somebody_elses(const RunConfig& config) {
  const RunConfig pretended = plan(scenario(kDecodeBound), {"workers=2"}).cases.front().config;
  RunRecord record = test::model_context().run(pretended);
  record.config = config;
  if (!config.loader.num_workers.given) record.config.loader.num_workers.value = 4;
  if (!config.loader.batch_size.given) record.config.loader.batch_size.value = 32;
  return record;
}

TEST_F(ResumedSweep, RecognisesCasesOfUsersLoader) {
  RunConfig base;
  for (const auto& [key, value] : {std::pair{"loader", "train.py:make"}, {"python", "python3"}})
    set_field(base, "", key, value);
  const std::vector<std::string> axes = {"batch-size=16,64", "num-workers=1,2"};
  ExperimentContext context = test::model_context();
  context.run = run_of_somebody_elses;
  Experiment experiment = plan(base, axes, true);
  run_sweep(experiment, context, {});
  std::ostringstream saved, before, after;
  write_json(saved, make_result(experiment, "1.0"));
  write_table(before, make_result(experiment, ""), {});

  Experiment resumed = plan(base, axes, true);
  std::istringstream input(saved.str());
  resume_sweep(input, "test", resumed);
  context.run = [](const RunConfig&) -> RunRecord { throw RunError("it has run"); };
  run_sweep(resumed, context, {});
  resumed.spent = experiment.spent;
  write_table(after, make_result(resumed, ""), {});
  EXPECT_EQ(after.str(), before.str());
  EXPECT_THAT(after.str(), HasSubstr("32"));
}

TEST_F(ResumedSweep, RefusesCasesThatOtherCoresHaveMade) {
  std::ostringstream saved;
  saved << std::ifstream(path_).rdbuf();
  std::string text = saved.str();
  const auto place = text.find("\"num-workers\":\"1\"");
  ASSERT_NE(place, text.npos);
  text.replace(place, std::string("\"num-workers\":\"1\"").size(), "\"num-workers\":\"7\"");
  std::istringstream input(text);
  Experiment experiment = plan(base_, axes_);
  EXPECT_THROW(resume_sweep(input, "test", experiment), RunError);
}

TEST_F(ResumedSweep, RefusesNumbersThatNoRunGives) {
  std::ostringstream saved;
  saved << std::ifstream(path_).rdbuf();
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"ci95\":[", "\"ci95\":[1e300,"},
                                                        {"\"steps\": ", "\"steps\": -1"},
                                                        {"\"took_s\": ", "\"took_s\": 9999999"},
                                                        {"\"round\": ", "\"round\": 99999"}}) {
    std::string text = saved.str();
    const auto place = text.find("\"runs\": [");
    text.replace(text.find(from, place), from.size(), to);
    std::istringstream input(text);
    Experiment experiment = plan(base_, axes_);
    EXPECT_THROW(resume_sweep(input, "test", experiment), RunError) << to;
  }
}

TEST_F(ResumedSweep, RefusesAFileThatIsNoSweep) {
  Experiment experiment = plan(base_, axes_);
  std::ofstream(path_) << R"({"schema": "loaderscope.run/1"})";
  EXPECT_THROW(resume_sweep(path_, experiment), RunError);
  EXPECT_THROW(resume_sweep("/nonexistent.json", experiment), RunError);
}

// Photos that storage keeps waiting when the cache is cold, and shards of them.
Experiment formats(double cold_of_shards) {
  Experiment experiment;
  experiment.axes = {{"data", {"photos", "tar:shards"}}, {"cache", {"cold", "warm"}}};
  const auto add = [&](const char* data, const char* cache, double rate, Nanos per_sample) {
    Case one;
    one.changes = {{"data", data}, {"cache", cache}};
    CaseRun run;
    run.samples_per_s = {rate, rate * 0.99, rate * 1.01};
    run.steps = 20;
    run.account.window = kSecond;
    run.bound_by = "read";
    run.reading = CaseReadStats{per_sample, 5.7, 1, 1};
    one.runs = {run, run};
    experiment.cases.push_back(one);
  };
  add("photos", "cold", 600, 9 * kMillisecond);
  add("photos", "warm", 1700, kMillisecond / 10);
  add("tar:shards", "cold", cold_of_shards, kMillisecond / 10);
  add("tar:shards", "warm", 1700, kMillisecond / 10);
  experiment.data = {{"photos", false, 1'000'000, 1'000'000'000, kSecond},
                     {"tar:shards", true, 1'000'000, 1'000'000'000, kSecond}};
  return experiment;
}

std::string table_text(const Experiment& experiment) {
  std::ostringstream text;
  ReportStyle style;
  style.verbose = true;
  write_table(text, make_result(experiment, "1.0"), style);
  return text.str();
}

TEST(SweepOfFormats, SaysWhichFormatAndWhenItPaysBack) {
  Experiment experiment = formats(1600);
  experiment.repacking = Repacking{2000, kSecond, 1500 * kSecond};
  const std::string text = table_text(experiment);
  EXPECT_THAT(text, testing::StartsWith(
                        "Repack as tar:shards: cold 600 -> 1,600 samples/s, warm 1,700 -> 1,700"));
  EXPECT_THAT(text, HasSubstr("storage is what photos waits for: 600 samples/s cold, 1,700 warm"));
  // An epoch takes 1,667 s, and 625 s with shards: 1,042 s less.
  EXPECT_THAT(text, HasSubstr("paid back within 2 cold epochs"));
  EXPECT_THAT(text, HasSubstr("9.000 ms"));
  std::ostringstream json;
  write_json(json, make_result(experiment, "1.0"));
  EXPECT_THAT(json.str(), HasSubstr("\"disk_bytes\":1000000000"));
}

// Intervals that merely overlap prove nothing.
TEST(SweepOfFormats, ClearsStorageOnlyIfBothAreAlike) {
  Experiment experiment = formats(1600);
  const auto photos_take = [&](double cold, double half) {
    for (CaseRun& run : experiment.cases[0].runs)
      run.samples_per_s = {cold, cold - half, cold + half};
    return table_text(experiment);
  };
  EXPECT_THAT(photos_take(1400, 400),
              HasSubstr("cannot tell whether storage is what photos waits for: "));
  for (const std::size_t warm : {0U, 1U}) {
    for (CaseRun& run : experiment.cases[warm].runs) run.samples_per_s = {1700, 1699, 1701};
  }
  EXPECT_THAT(table_text(experiment), HasSubstr("storage is not what photos waits for: "));
}

TEST(SweepOfFormats, PromisesNothingOfRepackingWhereImagesAreSmaller) {
  Experiment experiment = formats(1600);
  experiment.repacking = Repacking{2000, kSecond, 1500 * kSecond};
  experiment.data.front() = {"photos", false, 10'000, 620'000'000, 0};
  experiment.data.back() = {"tar:shards", true, 10'000, 270'000'000, 0};
  const std::string text = table_text(experiment);
  EXPECT_THAT(text,
              HasSubstr("repacking alone does not give that, as the images are smaller or "
                        "encoded again: a sample of\n  tar:shards takes 27.0 KB of the disk"));
  EXPECT_THAT(text, Not(HasSubstr("paid back")));
}

TEST(SweepOfFormats, KeepsWhatNothingBeats) {
  EXPECT_THAT(table_text(formats(605)),
              testing::StartsWith("Keep photos: this sweep shows no faster data set; "
                                  "tar:shards: cold 600 ->"));
}

}  // namespace
}  // namespace loaderscope
