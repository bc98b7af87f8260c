// Requirements of a run, and the answer that follows them.
#include "cli/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "loaderscope/errors.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;

class Requirements : public testing::Test {
 protected:
  // Captures standard error up to the answer in `before_`, and the rest in `after_`.
  ExitCode judged(const std::vector<std::string>& requirements) {
    testing::internal::CaptureStderr();
    const ExitCode code = judge_and_answer(requirements, record_, test::analysed(record_), [&] {
      before_ = testing::internal::GetCapturedStderr();
      testing::internal::CaptureStderr();
    });
    after_ = testing::internal::GetCapturedStderr();
    return code;
  }

  RunRecord record_ = test::full_record();
  std::string before_, after_;
};

TEST_F(Requirements, ReportsFailureBeforeAnswer) {
  EXPECT_EQ(judged({"device.busy >= 0.85"}), ExitCode::requirement_not_met);
  EXPECT_EQ(before_, "loaderscope: --require 'device.busy >= 0.85' is not met: it is 0.25\n");
  EXPECT_EQ(after_, "");
  EXPECT_EQ(judged({"device.busy >= 0.2"}), ExitCode::ok);
  EXPECT_EQ(before_, "");
}

TEST_F(Requirements, WritesAnswerDespiteUnusableCondition) {
  bool is_written = false;
  EXPECT_THROW(judge_and_answer({"device.busy >= much"}, record_, test::analysed(record_),
                                [&] { is_written = true; }),
               UsageError);
  EXPECT_TRUE(is_written);
}

}  // namespace
}  // namespace loaderscope
