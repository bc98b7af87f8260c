#include "unit/known_answer/mixed_pipelines.h"

#include "loaderscope/predict.h"
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

class Mixed : public testing::TestWithParam<MixedPipeline> {};

TEST_P(Mixed, NamesLeadingCause) {
  const RunRecord record = run(GetParam().settings);
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  EXPECT_EQ(analysis.verdict.bound_by, GetParam().bound_by) << analysis.verdict.sentence;
}

INSTANTIATE_TEST_SUITE_P(Pipelines, Mixed, testing::ValuesIn(kMixedPipelines),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace loaderscope::known_answer
