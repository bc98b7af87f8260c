// Size, links and names in README.md, CONTRIBUTING.md, CHANGELOG.md and SECURITY.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "report/text_table.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;

struct PageLimit {
  const char* name;
  std::size_t max_lines;
};

constexpr PageLimit kTopLevelPages[] = {
    {"README.md", 120}, {"CONTRIBUTING.md", 150}, {"CHANGELOG.md", 1'000}, {"SECURITY.md", 100}};

std::string source_path(const std::string& name) { return LOADERSCOPE_SOURCE_DIR "/" + name; }

std::string text_of_page(const std::string& name) {
  std::ifstream file(source_path(name));
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Targets of the links and pictures in `text` that are files of the repository.
std::vector<std::string> linked_files(const std::string& text) {
  static const std::regex kLink(R"(\]\(([^)\s]+)\))");
  std::vector<std::string> files;
  for (std::sregex_iterator at(text.begin(), text.end(), kLink), end; at != end; ++at) {
    const std::string target = (*at)[1];
    if (!target.starts_with("https://")) files.push_back(target);
  }
  return files;
}

TEST(TopLevelPage, FitsIntoItsLinesAndColumns) {
  for (const PageLimit& page : kTopLevelPages) {
    SCOPED_TRACE(page.name);
    std::istringstream lines(text_of_page(page.name));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(count_columns(line), 120U) << line;
    }
    EXPECT_GT(count, 10U);
    EXPECT_LE(count, page.max_lines);
  }
}

TEST(TopLevelPage, LinksOnlyToFilesThatExist) {
  std::size_t links = 0;
  for (const PageLimit& page : kTopLevelPages) {
    for (const std::string& file : linked_files(text_of_page(page.name))) {
      EXPECT_TRUE(std::filesystem::exists(source_path(file))) << page.name << ": " << file;
      ++links;
    }
  }
  EXPECT_GT(links, 5U);
}

TEST(TopLevelPage, NamesEveryFolderOfTheSources) {
  const std::string contributing = text_of_page("CONTRIBUTING.md");
  std::size_t folders = 0;
  for (const auto& each : std::filesystem::directory_iterator(source_path("src"))) {
    if (!each.is_directory()) continue;
    EXPECT_THAT(contributing, HasSubstr("\nsrc/" + each.path().filename().string() + "/ "));
    ++folders;
  }
  EXPECT_GT(folders, 10U);
}

TEST(TopLevelPage, NamesTheCommandsForNewcomers) {
  const std::string readme = text_of_page("README.md");
  for (const char* command : {"scripts/quickstart", "scripts/test"}) {
    EXPECT_THAT(readme, HasSubstr("\n" + std::string(command) + " "));
    EXPECT_TRUE(std::filesystem::exists(source_path(command))) << command;
  }
}

}  // namespace
}  // namespace loaderscope
