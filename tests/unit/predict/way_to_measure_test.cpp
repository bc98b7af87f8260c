#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/model_engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the error of a prediction for an opaque loader.
std::string refusal(const std::string& loader) {
  RunConfig config;
  parse_scenario("engine = model\ncost = decode=1ms\ncompute = 1ms\nsteps = 20\nbatch = 2", "test",
                 config);
  std::vector<std::string> notes;
  RunRecord record = run_model(resolve_to_predict(config, MachineLimits{2}, notes), {});
  record.engine = "torch";
  record.config.loader.executor.value = Executor::opaque;
  if (!loader.empty()) record.config.program.loader.set(loader);
  try {
    FittedModel{record};
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

TEST(WayToMeasure, SuggestsSettingsOfBuiltInPipeline) {
  EXPECT_THAT(refusal("dali:cpu"), HasSubstr("as sweep and tune do"));
}

TEST(WayToMeasure, SuggestsFunctionPerVariantOfUserLoader) {
  EXPECT_THAT(refusal("train.py:make"), HasSubstr("loaderscope sweep --vary loader=FILE.py:ONE"));
  EXPECT_THAT(refusal("train.py:make"), Not(HasSubstr("tune")));
}

TEST(WayToMeasure, SuggestsChangeOfProgram) {
  EXPECT_THAT(refusal(""), HasSubstr("change them in the program"));
}

}  // namespace
}  // namespace loaderscope
