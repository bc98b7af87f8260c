// Every file in scenarios/ keeps what it promises in its "# expect:" lines: a bare word is
// verdict.bound_by, anything with a comparison is a condition on the result, as of --require.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "engine/model/model_engine.h"
#include "loaderscope/report.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(LOADERSCOPE_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() == ".conf") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Result {
  std::vector<std::string> expect, notes;
  RunRecord record;
  Analysis analysis;
};

Result result_of(const std::string& name, double cores_of_machine) {
  Result result;
  RunConfig config;
  result.expect =
      read_scenario(LOADERSCOPE_SOURCE_DIR "/scenarios/" + name + ".conf", config).expect;
  result.record = run_model(resolve(config, MachineLimits{cores_of_machine}, result.notes), {});
  result.analysis = analyse(result.record);
  return result;
}

class ScenarioFile : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioFile, KeepsItsPromises) {
  const Result result = result_of(GetParam(), 2);
  ASSERT_FALSE(result.expect.empty()) << "no '# expect:' line";
  for (const std::string& expected : result.expect) {
    const bool is_condition = expected.find_first_of("<>=!") != std::string::npos;
    const std::string condition = is_condition ? expected : "verdict.bound_by == " + expected;
    const RequirementResult met = evaluate_requirement(condition, result.record, result.analysis);
    EXPECT_EQ(met.outcome, RequirementResult::Outcome::met) << met.sentence;
  }
  EXPECT_EQ(result.analysis.account.stall[Cause::other], 0);
}

// The answer is one of pencil and paper: it may not depend on the machine on which the file is
// run.
TEST_P(ScenarioFile, DoesNotDependOnTheMachine) {
  const Account small = result_of(GetParam(), 1).analysis.account;
  const Account large = result_of(GetParam(), 512).analysis.account;
  EXPECT_EQ(small.window, large.window);
  EXPECT_EQ(small.stall, large.stall);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioFile, testing::ValuesIn(scenario_names()),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace loaderscope
