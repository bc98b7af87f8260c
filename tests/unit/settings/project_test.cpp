// Settings of a project: what is read from TOML, and which file counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "loaderscope/errors.h"
#include "settings/project.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string error_of_project(const std::string& text, bool is_pyproject = false) {
  try {
    parse_project(text, "x.toml", is_pyproject);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Project, ReadsValuesListsAndTablesOfCommands) {
  const auto lines = parse_project(
      "[tool.loaderscope]\nsteps = 200\ndata = [\"a\", 'b']\nhook-cost = true\n"
      "[tool.loaderscope.run]\ncompute = \"36ms\"\n",
      "x.toml", true);
  ASSERT_TRUE(lines);
  EXPECT_THAT(*lines, testing::UnorderedElementsAre(
                          ProjectLine{"x.toml:2", "", "steps", "200", false},
                          ProjectLine{"x.toml:3", "", "data", "a", true},
                          ProjectLine{"x.toml:3", "", "data", "b", true},
                          ProjectLine{"x.toml:4", "", "hook-cost", "true", false},
                          ProjectLine{"x.toml:6", "run", "compute", "36ms", false}));
}

TEST(Project, IgnoresPyprojectOfOthers) {
  EXPECT_FALSE(parse_project("[tool.ruff]\nline-length = 100\n", "x.toml", true));
  EXPECT_FALSE(parse_project("[tool.ruff\n", "x.toml", true));
  EXPECT_TRUE(parse_project("", "x.toml", false));
}

TEST(Project, NamesLineOfDamagedFile) {
  EXPECT_THAT(error_of_project("steps = 3\nworkers = \n"), HasSubstr("x.toml:2: no TOML"));
  EXPECT_THAT(error_of_project("\n[tool.loaderscope\n", true), HasSubstr("x.toml:2: no TOML"));
  EXPECT_THAT(error_of_project("a = 1\nsteps = 1979-05-27\n"),
              HasSubstr("x.toml:2: steps is no text, number, true or false"));
  EXPECT_THAT(error_of_project("a = \"\\u0000\"\n"), HasSubstr("x.toml:1: a has a zero byte"));
  for (const std::string header : {"[@run]", "[=]", "[\f]", "[[,]]", "[\xc2\xa0=]"})
    EXPECT_THAT(error_of_project("\na = 1\n" + header + "\nb = 2\n"),
                HasSubstr("x.toml:3: no TOML"))
        << header;
}

TEST(Project, ReadsLettersOutsideOfAscii) {
  const auto lines = parse_project(
      "\xef\xbb\xbf# caf\u00e9\ndata = \"\u30c7\u30fc\u30bf/~/caf\u00e9~41\"\n\"\u00e9\" = "
      "'a\u00e9'\n",
      "x.toml", false);
  ASSERT_TRUE(lines);
  EXPECT_THAT(*lines,
              testing::UnorderedElementsAre(
                  ProjectLine{"x.toml:2", "", "data", "\u30c7\u30fc\u30bf/~/caf\u00e9~41", false},
                  ProjectLine{"x.toml:3", "", "\u00e9", "a\u00e9", false}));
  EXPECT_THAT(error_of_project("\n\u00e9 = 1\n"), HasSubstr("x.toml:2: no TOML"));
  EXPECT_THAT(error_of_project("\na = \"\xc3\"\n"),
              HasSubstr("x.toml:2: no TOML: a letter is no UTF-8"));
}

// A folder of files, removed afterwards.
class FoundProject : public testing::Test {
 protected:
  FoundProject() : root_(fs::path(testing::TempDir()) / ("project-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "repo/src/deep");
  }
  ~FoundProject() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
  }

  fs::path root_;
};

TEST_F(FoundProject, ReadsFileUpToRootOfRepository) {
  fs::create_directory(root_ / "repo/.git");
  write("repo/pyproject.toml", "[tool.loaderscope]\nsteps = 3\n");
  write("repo/src/pyproject.toml", "[tool.ruff]\nfix = true\n");
  // find_project() names files as seen from the current folder.
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "repo/src/deep");
  const auto found = find_project(fs::current_path());
  fs::remove(root_ / "repo/pyproject.toml");
  write("pyproject.toml", "[tool.loaderscope]\nsteps = 3\n");
  const auto outside = find_project(fs::current_path());
  fs::current_path(before);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "../../pyproject.toml");
  EXPECT_EQ(found->folder, "../..");
  EXPECT_EQ(found->lines.size(), 1U);
  EXPECT_FALSE(outside);
}

TEST_F(FoundProject, StaysInCurrentFolderWithoutRepository) {
  write("repo/pyproject.toml", "[tool.loaderscope]\nsteps = 3\n");
  write("repo/src/loaderscope.toml", "steps = 4\n");
  write("repo/src/pyproject.toml", "[tool.loaderscope]\nsteps = 5\n");
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "repo/src/deep");
  const auto none = find_project(fs::current_path());
  fs::current_path(root_ / "repo/src");
  const auto own = find_project(fs::current_path());
  fs::current_path(before);
  EXPECT_FALSE(none);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->path, "loaderscope.toml");
  EXPECT_THAT(own->folder, IsEmpty());
  EXPECT_THAT(own->lines, ElementsAre(ProjectLine{"loaderscope.toml:1", "", "steps", "4", false}));
}

}  // namespace
}  // namespace loaderscope
