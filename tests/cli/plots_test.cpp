// Plots of braille letters: on a terminal with --verbose, and nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "cli/built.h"
#include "cli/run_binary.h"
#include "report/text_table.h"

namespace loaderscope::testing_cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kScript = "/usr/bin/script";
constexpr const char* kRows = "\u2800";  // a braille letter without a dot

// Runs the program on a terminal of 80 columns.
Ended on_terminal(const std::string& words) {
  return run_program("/usr/bin/env", {"LC_ALL=C.UTF-8", "TERM=xterm", "NO_COLOR=1", kScript, "-qec",
                                      "stty cols 80; " + binary() + " " + words, "/dev/null"});
}

const std::string kPipeline =
    " --no-progress --engine model --cost decode=10ms --compute 15ms --batch 4 --cores 8 ";

TEST(Plots, FitsPlotsToWidthOfTerminal) {
  if (!std::filesystem::exists(kScript)) GTEST_SKIP() << "no " << kScript;
  for (const auto& [words, said] : std::vector<std::pair<std::string, std::string>>{
           {"run --verbose", "time of a step"},
           {"sweep --verbose --vary workers=1,2,3,4,6", "^ knee 3"},
           {"tune --verbose --vary workers=1,2,3,4,6", "^ use 3"}}) {
    const Ended ended = on_terminal(words + kPipeline);
    ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(kRows)) << words;
    EXPECT_THAT(ended.out, HasSubstr(said)) << words;
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);) {
      const bool is_of_plot = line.find(kRows) != line.npos || line.find(said) != line.npos;
      EXPECT_TRUE(!is_of_plot || count_columns(line.substr(0, line.find('\r'))) <= 80U) << line;
    }
  }
}

TEST(Plots, OmitsPlotsWithoutTerminalOrVerbose) {
  const Ended piped =
      run_program("/usr/bin/env", {"LC_ALL=C.UTF-8", "TERM=xterm", "sh", "-c",
                                   binary() + " sweep --verbose --vary workers=1,2,3" + kPipeline});
  ASSERT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_THAT(piped.out, Not(HasSubstr(kRows)));
  if (!std::filesystem::exists(kScript)) GTEST_SKIP() << "no " << kScript;
  const Ended brief = on_terminal("sweep --vary workers=1,2,3" + kPipeline);
  ASSERT_EQ(brief.exit_code, 0) << brief.out;
  EXPECT_THAT(brief.out, Not(HasSubstr(kRows)));
}

}  // namespace
}  // namespace loaderscope::testing_cli
