// Every file in scenarios/ keeps what it promises in its "# expect:" lines, in the model.
#include <gtest/gtest.h>

#include <sstream>

#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "report/results.h"
#include "report/writers.h"
#include "unit/known_answer/scenario_file.h"
#include "unit/report/screen_rows.h"

namespace loaderscope::known_answer {
namespace {

// Checks the verdict that `run` would give, which includes the findings of the model.
void expect_answer(const ScenarioFile& file, ScenarioRun& run) {
  add_findings(run.analysis, run.record);
  std::vector<std::string> conditions = file.conditions;
  if (!file.bound_by.empty()) conditions.push_back("verdict.bound_by == " + file.bound_by);
  for (const std::string& condition : conditions) {
    const RequirementResult met = evaluate_requirement(condition, run.record, run.analysis);
    EXPECT_EQ(met.outcome, RequirementResult::Outcome::met) << met.sentence;
  }
  EXPECT_EQ(run.analysis.account.stall[Cause::other], 0);
}

void expect_fits_a_screen(const ScenarioRun& run) {
  std::ostringstream out;
  write_table(out, make_result(run.record, run.analysis), {});
  EXPECT_LE(test::screen_rows(out.str()), test::kRowsOfScreen) << out.str();
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings)
    text += std::string(f.id) + " " + changes_to_text(f.changes) + "; ";
  return text;
}

class ModelScenarios : public testing::TestWithParam<std::string> {};

TEST_P(ModelScenarios, KeepsItsPromises) {
  const ScenarioFile file = read_scenario_file(GetParam());
  ASSERT_FALSE(file.bound_by.empty() && file.conditions.empty()) << "no '# expect:' line";
  ScenarioRun run = run_in_model(file.given);
  expect_answer(file, run);
  expect_fits_a_screen(run);
  const std::vector<Finding>& found = run.analysis.findings;
  ASSERT_GE(found.size(), file.findings.size()) << findings_text(found);
  for (std::size_t i = 0; i < file.findings.size(); ++i) {
    EXPECT_EQ(found[i].id, file.findings[i].id) << findings_text(found);
    if (file.findings[i].changes.empty()) continue;
    EXPECT_EQ(changes_to_text(found[i].changes), file.findings[i].changes);
  }
}

TEST_P(ModelScenarios, KeepsThemWithOtherSettingsToo) {
  const ScenarioFile file = read_scenario_file(GetParam());
  if (file.also_with.empty()) return;
  ScenarioRun run = run_in_model(with_changes(file.given, file.also_with));
  expect_answer(file, run);
}

// The answer is one of pencil and paper: it may not depend on the machine on which the file is
// run.
TEST_P(ModelScenarios, GivesSameAnswerOnAnyMachine) {
  const ScenarioFile file = read_scenario_file(GetParam());
  const Account small = run_in_model(file.given, 1).analysis.account;
  const Account large = run_in_model(file.given, 512).analysis.account;
  EXPECT_EQ(small.window, large.window);
  EXPECT_EQ(small.stall, large.stall);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ModelScenarios, testing::ValuesIn(scenario_names()),
                         name_of_file);

}  // namespace
}  // namespace loaderscope::known_answer
