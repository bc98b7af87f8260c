// loaderscope demo: three answers and a page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/run_binary.h"
#include "cli/run_script.h"
#include "environment.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kDemoPage = "loaderscope-demo.html";

class Demo : public ::testing::Test {
 protected:
  // Runs the program without a source tree, a terminal, PATH and Python.
  Ended run_demo(const std::string& folder) const {
    const Environment cache("XDG_CACHE_HOME", folder_.path("cache")), path("PATH", "/nowhere"),
        summary("LOADERSCOPE_SUMMARY", "compact");
    return run_program("/bin/sh", {"-c", "cd \"$1\" && exec \"$0\" demo", binary(), folder});
  }

  TestFolder folder_;
};

TEST_F(Demo, PrintsThreeAnswersAndWritesPage) {
  const Ended ended = run_demo(folder_.path(""));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* heading :
       {"\n== 1. Slow storage", "\n== 2. Too few workers", "\n== 3. All fine"})
    EXPECT_THAT(ended.out, HasSubstr(heading));
  int answers = 0;  // each has a line "More"
  for (std::size_t at = 0; (at = ended.out.find("\nMore: ", at)) != std::string::npos; ++at)
    ++answers;
  EXPECT_EQ(answers, 3) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("\nPage:  loaderscope-demo.html"));
  EXPECT_THAT(ended.out, EndsWith("\nNext:  loaderscope run -- python train.py\n"));
  const std::string page = folder_.read(kDemoPage);
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  for (const char* part : {"<h2>1. Slow storage", "<h2>2. Too few", "<h2>3. All fine", "<figure"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_FALSE(fs::exists(folder_.path("cache/loaderscope/last.json")))
      << "the last result of the user was replaced";
}

TEST_F(Demo, KeepsFileOfUserAndWritesPageToCache) {
  folder_.write(kDemoPage, "mine");
  const Ended ended = run_demo(folder_.path(""));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(folder_.read(kDemoPage), "mine");
  const std::string page = folder_.path("cache/loaderscope/") + kDemoPage;
  EXPECT_THAT(ended.out, HasSubstr("\nPage:  " + page));
  EXPECT_TRUE(fs::exists(page));
}

TEST_F(Demo, AnswersInFolderThatCannotBeWritten) {
  folder_.write("cache", "a file, so that it cannot be a folder");
  const Ended ended = run_demo("/proc");
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\nPage:  not written, because"));
  EXPECT_THAT(ended.err, Not(HasSubstr("cannot")));
}

}  // namespace
}  // namespace loaderscope::testing_cli
