// The short files in scenarios/ whose stages only sleep, run for real: the largest cause and the
// finding that they promise "in native".
#include <algorithm>

#include "loaderscope/predict.h"
#include "loaderscope/settings.h"
#include "unit/known_answer/scenario_file.h"
#include "unit/native/native_run.h"

namespace loaderscope::native {
namespace {

using known_answer::read_scenario_file;
using known_answer::ScenarioFile;

std::vector<std::string> names_for_native() {
  std::vector<std::string> names = known_answer::scenario_names();
  std::erase_if(names, [](const std::string& name) {
    return read_scenario_file(name).largest_in_native.empty();
  });
  return names;
}

std::string_view largest_cause(const Account& account) {
  const auto largest = std::max_element(account.stall.begin(), account.stall.end());
  return name_of(static_cast<Cause>(largest - account.stall.begin()));
}

bool has(const std::vector<Finding>& findings, const std::string& id) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

constexpr Nanos kMaxLength = 2 * kSecond;  // simulated time of one run

class ScenarioInNative : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioInNative, KeepsItsPromises) {
  ScenarioFile file = read_scenario_file(GetParam());
  const known_answer::ScenarioRun model_run = known_answer::run_in_model(file.given);
  const RankRecord& predicted = model_run.record.ranks.front();
  ASSERT_LE(predicted.window_end - predicted.first_ask, kMaxLength)
      << "too long to be run for real";
  file.given.engine.set("native");
  std::vector<std::string> notes;
  const RunConfig config = resolve(file.given, MachineLimits{2}, notes);
  SCOPED_TRACE("expected " + file.largest_in_native + " and " + file.finding_in_native);
  expect_in_a_quiet_moment([&]() -> std::string {
    const RunRecord record = run_native(config, {});
    expect_closes(record);
    Analysis analysis = analyse(record);
    add_findings(analysis, record);
    const bool is_right =
        largest_cause(analysis.account) == file.largest_in_native &&
        (file.finding_in_native.empty() || has(analysis.findings, file.finding_in_native));
    return is_right ? "" : analysis.verdict.sentence;
  });
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioInNative, testing::ValuesIn(names_for_native()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace loaderscope::native
