// Each file in scenarios/ and the next one of its ladder: the model predicts the next file from the
// change between them.
#include <gtest/gtest.h>

#include <algorithm>

#include "loaderscope/predict.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"
#include "unit/known_answer/scenario_file.h"

namespace loaderscope::known_answer {
namespace {

constexpr double kPredictionTolerance = 0.01;  // relative: the windows differ if the workers do
constexpr double kFindingTolerance = 0.03;     // relative: findings are weighed on fewer samples

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// The settings that make `to` of `from`. What only `from` gives cannot be taken back by a setting,
// but costs of the same stage replace each other.
Changes difference(const RunConfig& from, const RunConfig& to) {
  Changes changes;
  for (const Field& field : fields()) {
    EXPECT_TRUE(field.given(to) || !field.given(from)) << field.name << " is left out";
    if (!field.given(to)) continue;
    const std::vector<std::string> before =
        field.given(from) ? field.texts(from) : std::vector<std::string>{};
    for (const std::string& text : field.texts(to))
      if (!contains(before, text)) changes.push_back({std::string(field.name), text});
  }
  return changes;
}

void expect_rate(double predicted, const std::string& file, double tolerance) {
  const double rate = run_in_model(read_scenario_file(file).given).analysis.samples_per_s.mean;
  EXPECT_NEAR(predicted / rate, 1, tolerance)
      << predicted << " predicted, " << rate << " in " << file;
}

std::vector<std::string> steps_of_ladders() {
  std::vector<std::string> names = scenario_names();
  std::erase_if(names, [](const std::string& name) { return !next_of_ladder(name); });
  return names;
}

std::vector<std::string> files_that_lead_on() {
  std::vector<std::string> names = scenario_names();
  std::erase_if(names, [](const std::string& name) {
    const auto findings = read_scenario_file(name).findings;
    return std::none_of(findings.begin(), findings.end(),
                        [](const FindingPromise& p) { return !p.leads_to.empty(); });
  });
  return names;
}

class Ladder : public testing::TestWithParam<std::string> {};

TEST_P(Ladder, PredictsNextFile) {
  const std::string next = *next_of_ladder(GetParam());
  const RunConfig given = read_scenario_file(GetParam()).given;
  const Changes step = difference(given, read_scenario_file(next).given);
  ASSERT_FALSE(step.empty()) << next << " says the same";
  const Prediction prediction = FittedModel(run_in_model(given).record).predict(step);
  SCOPED_TRACE(changes_to_text(step));
  expect_rate(prediction.samples_per_s, next, kPredictionTolerance);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Ladder, testing::ValuesIn(steps_of_ladders()), name_of_file);

class FindingLeadsOn : public testing::TestWithParam<std::string> {};

TEST_P(FindingLeadsOn, KeepsPromisedRate) {
  const ScenarioFile file = read_scenario_file(GetParam());
  ScenarioRun run = run_in_model(file.given);
  add_findings(run.analysis, run.record);
  ASSERT_GE(run.analysis.findings.size(), file.findings.size());
  for (std::size_t i = 0; i < file.findings.size(); ++i) {
    if (file.findings[i].leads_to.empty()) continue;
    SCOPED_TRACE(file.findings[i].id);
    expect_rate(run.analysis.findings[i].rate_after, file.findings[i].leads_to, kFindingTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, FindingLeadsOn, testing::ValuesIn(files_that_lead_on()),
                         name_of_file);

}  // namespace
}  // namespace loaderscope::known_answer
