// Commands of the manual, run as a reader pastes them: those in ```console blocks, page by page.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/run_binary.h"
#include "environment.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;

const fs::path& manual_folder() {
  static const fs::path folder = fs::path(LOADERSCOPE_SOURCE_DIR) / "src/manual";
  return folder;
}

// Lines that begin with "$ " in ```console blocks, which a list may indent.
std::vector<std::string> console_commands(const std::string& page) {
  std::vector<std::string> commands;
  std::ifstream file(manual_folder() / (page + ".md"));
  bool is_console = false;
  for (std::string line; std::getline(file, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("```")) {
      is_console = line == "```console";
    } else if (is_console && line.starts_with("$ ")) {
      commands.push_back(line.substr(2));
    }
  }
  return commands;
}

std::vector<std::string> pages_with_commands() {
  std::vector<std::string> pages;
  for (const auto& file : fs::directory_iterator(manual_folder())) {
    const std::string page = file.path().stem().string();
    if (file.path().extension() == ".md" && !console_commands(page).empty()) pages.push_back(page);
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

class GuidePage : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    fs::create_directory_symlink(fs::path(LOADERSCOPE_SOURCE_DIR) / "scenarios",
                                 folder_.path("scenarios"));
  }

  // Runs a line of shell in the folder of this page, where earlier lines left their files.
  Ended run_line(const std::string& line) const {
    const std::string place = "cd '" + folder_.path("") + "' && ";
    return run_program("/bin/sh", {"-c", place + line});
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  Environment path_{"PATH", fs::path(binary()).parent_path().string() + ":/usr/bin:/bin"};
};

// Exit code 2 is an answer: a requirement that a page shows as not met.
TEST_P(GuidePage, RunsItsCommands) {
  for (const std::string& line : console_commands(GetParam())) {
    const Ended ended = run_line(line);
    EXPECT_TRUE(ended.exit_code == 0 || ended.exit_code == 2) << "$ " << line << "\n" << ended.err;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& page) {
  std::string name = page.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Manual, GuidePage, testing::ValuesIn(pages_with_commands()), test_name);

TEST(GuidePages, FindsCommandsInEveryGuide) {
  EXPECT_GE(pages_with_commands().size(), 20U);
  for (const char* guide : {"gpu-utilisation", "workers", "slow-storage", "gate", "did-it-help"})
    EXPECT_FALSE(console_commands(guide).empty()) << guide;
}

}  // namespace
}  // namespace loaderscope::testing_cli
