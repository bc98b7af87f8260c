// Checks that the short output of sweep, tune, what-if and selftest fits a screen too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/kinds.h"
#include "report/results.h"
#include "report/what_if_report.h"
#include "report/writers.h"
#include "unit/experiment/model_context.h"
#include "unit/report/sample_record.h"
#include "unit/report/screen_rows.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

constexpr ReportStyle kVerboseStyle{100, false, true};

// 64 settings, the rates as the product of the two.
Experiment large_sweep() {
  Experiment experiment = plan(scenario("cost = decode=8ms\ncompute = 12ms\nbatch = 4\ncores = 8"),
                               {"workers=1,2,3,4,5,6,7,8", "prefetch=1,2,3,4,5,6,7,8"});
  double rate = 100;
  for (Case& one : experiment.cases) {
    CaseRun run;
    run.samples_per_s = {rate, rate - 1, rate + 1};
    run.steps = 20;
    one.runs = {run};
    rate += 10;
  }
  for (int i = 0; i < 10; ++i) experiment.notes.push_back("a note " + std::string(150, 'x'));
  return experiment;
}

TEST(ShortSweep, ShowsFastestCases) {
  std::ostringstream brief, all;
  write_table(brief, make_result(large_sweep(), ""), {});
  write_table(all, make_result(large_sweep(), ""), kVerboseStyle);
  EXPECT_LE(screen_rows(brief.str()), kRowsOfScreen) << brief.str();
  EXPECT_THAT(brief.str(),
              testing::StartsWith("num-workers=8 prefetch-factor=8 gives the most: 730 "));
  EXPECT_THAT(brief.str(), HasSubstr("<- best"));
  EXPECT_THAT(brief.str(), HasSubstr("<- knee"));
  EXPECT_THAT(brief.str(), HasSubstr("and 52 slower ones, with --verbose\n"));
  EXPECT_THAT(all.str(), Not(HasSubstr("--verbose")));
  EXPECT_GT(screen_rows(all.str()), 64u);
}

TEST(ShortTune, KeepsTheSettingToUseAndTheNextCommand) {
  Tune tune;
  tune.experiment = large_sweep();
  tune.candidates.resize(tune.experiment.cases.size());
  tune.best = 63;
  tune.recommended = 60;
  tune.limit = "decode";
  std::ostringstream brief, all;
  write_table(brief, make_result(tune, ""), {});
  write_table(all, make_result(tune, ""), kVerboseStyle);
  EXPECT_LE(screen_rows(brief.str()), kRowsOfScreen) << brief.str();
  for (const char* part : {"\n  DataLoader(", "\n  use -> ", "\n  best ", "\nThe limit is decode\n",
                           "\nmore with -vv: ", "\nNext: "})
    EXPECT_THAT(brief.str(), HasSubstr(part));
  EXPECT_THAT(brief.str(), Not(HasSubstr("a note")));
  EXPECT_THAT(all.str(), HasSubstr("\n- a note"));
}

TEST(ShortWhatIf, LeavesOutSmallCausesAndExtraNotes) {
  WhatIf answer;
  answer.fitted.name = "fitted";
  answer.fitted.has_busy = true;
  answer.fitted.account = analysed(usual_record()).account;
  Account& account = answer.fitted.account;
  account.stall[Cause::pin] = account.window / 500;
  for (int i = 0; i < 40; ++i) answer.notes.push_back("a note");
  std::ostringstream brief, all;
  write_table(brief, make_result(answer, ""), {});
  write_table(all, make_result(answer, ""), kVerboseStyle);
  EXPECT_LE(screen_rows(brief.str()), kRowsOfScreen) << brief.str();
  EXPECT_THAT(brief.str(), Not(HasSubstr("  pin ")));
  EXPECT_THAT(brief.str(), HasSubstr("more with -vv: notes\n"));
  EXPECT_THAT(all.str(), HasSubstr("  pin "));
}

selftest::Recovery make_recovery(const char* pipeline, Stage stage, double found) {
  selftest::Recovery recovery;
  recovery.pipeline = pipeline;
  recovery.stage = stage;
  recovery.injected_s = 1;
  recovery.growth = {PerCause<double>{}};
  recovery.growth.front()[recovery.cause()] = found;
  return recovery;
}

TEST(ShortSelftest, ShowsWorstOfEachStageAndAllMissed) {
  selftest::Result result;
  result.stages = {
      make_recovery("one", Stage::read, 1.0), make_recovery("one", Stage::decode, 0.99),
      make_recovery("two", Stage::read, 0.98), make_recovery("two", Stage::decode, 0.5),
      make_recovery("three", Stage::decode, 0.7)};
  std::ostringstream brief, all;
  write_table(brief, make_result(result, ""), {});
  write_table(all, make_result(result, ""), kVerboseStyle);
  EXPECT_THAT(brief.str(), HasSubstr("98.0 %"));
  EXPECT_THAT(brief.str(), HasSubstr("50.0 %"));
  EXPECT_THAT(brief.str(), HasSubstr("70.0 %"));
  EXPECT_THAT(brief.str(), Not(HasSubstr("99.0 %")));
  EXPECT_THAT(all.str(), HasSubstr("99.0 %"));
}

}  // namespace
}  // namespace loaderscope
