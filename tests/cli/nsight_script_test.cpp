// scripts/nsight: what it asks Nsight Systems to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/run_script.h"

namespace loaderscope::testing_cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
// Writes its words down, and a report as nsys does.
constexpr const char* kPretendNsys = R"(#!/usr/bin/env bash
echo "$*" >> "$NSYS_LOG"
for word; do
  if [[ $word == --output=* && ! ${NSYS_NO_REPORT-} ]]; then touch "${word#--output=}.nsys-rep"; fi
done
exit "${NSYS_EXIT-0}"
)";

class NsightScript : public ::testing::Test {
 protected:
  Ended run(const Words& words) {
    const Environment log("NSYS_LOG", folder_.path("log"));
    return run_program(script_path("nsight"), words);
  }
  void pretend_nsys() { write_program(folder_, "nsys", kPretendNsys); }
  std::string first_line() const {
    const std::string log = folder_.read("log");
    return log.substr(0, log.find('\n'));
  }

  TestFolder folder_;
  // Programs of the test folder and of a basic system.
  Environment path_{"PATH", folder_.path("") + ":/usr/bin:/bin"};
  Environment program_{"LOADERSCOPE", binary()};
};

TEST_F(NsightScript, CapturesTheMeasuredWindowAndPrintsTheTables) {
  pretend_nsys();
  const Ended ended =
      run({"--output", folder_.path("out"), "--", "run", "--device", "sim", "--steps", "9"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const std::string profile = first_line();
  EXPECT_THAT(profile, StartsWith("profile "));
  for (const char* flag :
       {"--trace=cuda,nvtx,osrt", "--capture-range=nvtx", "--nvtx-capture=window@loaderscope",
        "--capture-range-end=stop", "--force-overwrite=true"})
    EXPECT_THAT(profile, HasSubstr(std::string(" ") + flag + " "));
  EXPECT_THAT(profile, HasSubstr(" --output=" + folder_.path("out") + " "));
  EXPECT_THAT(profile, ::testing::EndsWith(binary() + " run --device sim --steps 9"));
  EXPECT_THAT(folder_.read("log"), HasSubstr("\nexport --type=sqlite "));
  EXPECT_THAT(ended.err, HasSubstr("no diagnosis of"));  // the pretend nsys exports an empty file
  EXPECT_THAT(folder_.read("log"), HasSubstr("\nstats "));
  EXPECT_THAT(folder_.read("log"), HasSubstr(folder_.path("out.nsys-rep")));
}

TEST_F(NsightScript, ReportsWhereToGetMissingNsys) {
  if (std::system("PATH=/usr/bin:/bin command -v nsys >/dev/null") == 0) GTEST_SKIP();
  const Ended ended = run({"--", "run"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, StartsWith("nsight: there is no nsys"));
  EXPECT_THAT(ended.err, HasSubstr("https://developer.nvidia.com/nsight-systems"));
}

TEST_F(NsightScript, FailsIfProfileFails) {
  pretend_nsys();
  const Environment fails("NSYS_EXIT", "3");
  const Ended ended = run({"--output", folder_.path("out"), "--", "run"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("nsys profile or the run failed"));
  EXPECT_THAT(folder_.read("log"), Not(HasSubstr("stats")));
}

TEST_F(NsightScript, FailsIfTheWindowNeverBegan) {
  pretend_nsys();
  const Environment none("NSYS_NO_REPORT", "1");
  const Ended ended = run({"--output", folder_.path("out"), "--", "run"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("before its window began"));
}

TEST_F(NsightScript, RequiresArgumentsAfterTwoDashes) {
  for (const Words& words : {Words{}, Words{"run"}, Words{"--"}, Words{"--what", "--", "run"}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_THAT(ended.err, HasSubstr("usage: scripts/nsight"));
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli
