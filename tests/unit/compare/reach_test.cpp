#include "experiment/compare/commits.h"

#include <gtest/gtest.h>

namespace loaderscope::compare {
namespace {

const FileTrace kLoader = parse_file_trace("train.py\nlib/data.py\nconfig.yaml\n");

std::string unaffected_reason(char how, const std::string& path,
                              const FileTrace& touched = kLoader) {
  return why_unaffected({{how, path}}, touched);
}

TEST(Reach, ReadsWhatWasTouched) {
  EXPECT_EQ(kLoader.files.size(), 3U);
  EXPECT_FALSE(kLoader.started_programs);
  EXPECT_TRUE(parse_file_trace("x.py\n!\n").started_programs);
}

TEST(Reach, ReadsWhatGitSays) {
  using namespace std::string_literals;
  const auto changes = read_changes("M\0a b.py\0A\0docs/x.md\0"s);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].path, "a b.py");
  EXPECT_EQ(changes[1].how, 'A');
  EXPECT_TRUE(read_changes("").empty());
  EXPECT_TRUE(read_changes("M").empty());
}

TEST(Reach, ExcludesDocumentation) {
  EXPECT_EQ(unaffected_reason('M', "README.md"),
            "the loader reads nothing of what changed (README.md)");
  EXPECT_EQ(
      why_unaffected({{'A', "docs/a.rst"}, {'D', "LICENSE"}, {'A', ".github/x.yml"}}, kLoader),
      "the loader reads nothing of what changed (docs/a.rst and 2 files more)");
  EXPECT_NE(unaffected_reason('M', "eval.py"), "");
}

TEST(Reach, SaysThatFilesAreSameWithoutChange) {
  EXPECT_EQ(why_unaffected({}, {}), "A and B are the same files");
}

TEST(Reach, IncludesFilesThatLoaderMayRead) {
  for (const char* path : {"train.py", "lib/data.py", "config.yaml", "requirements.txt", "uv.lock",
                           "pyproject.toml", "photo.jpg", "kernel.cu", "lib/x.so", "module"})
    EXPECT_EQ(unaffected_reason('M', path), "") << path;
  EXPECT_EQ(unaffected_reason('A', "json.py"), "");  // takes the place of another module
  EXPECT_EQ(unaffected_reason('D', "eval.py"), "");
  EXPECT_EQ(unaffected_reason('M', "README.md", parse_file_trace("train.py\nREADME.md\n")), "");
}

TEST(Reach, IncludesAllFilesForLoaderThatStartsPrograms) {
  EXPECT_EQ(unaffected_reason('M', "README.md", parse_file_trace("train.py\n!\n")), "");
  EXPECT_EQ(unaffected_reason('M', "README.md", {}), "");
}

}  // namespace
}  // namespace loaderscope::compare
