// Checks that each file of `ci init` can be read by the program for which it is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/ci_files.h"
#include "cli/command.h"
#include "experiment/compare/gate.h"
#include "report/compare_text.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;
using Arguments = std::vector<std::string>;

std::string_view file_named(std::string_view name) {
  for (const EmbeddedFile& file : ci_files()) {
    if (file.name == name) return file.content;
  }
  ADD_FAILURE() << name;
  return "";
}

// Calls `take(line)` for each, without the blanks in front.
template <class Take>
void for_each_ci_line(std::string_view text, const Take& take) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    take(line.substr(std::min(line.size(), line.find_first_not_of(' '))));
}

// The arguments of the loaderscope command at the begin of a shell line. Empty for other commands.
Arguments command_arguments(std::string line) {
  if (line.starts_with("- ")) line.erase(0, 2);
  std::istringstream stream(line);
  Arguments words;
  for (std::string word; stream >> word && word != "||" && word != ">>";) {
    std::erase(word, '"');
    words.push_back(word);
  }
  if (words.empty() || words.front().substr(words.front().rfind('/') + 1) != "loaderscope")
    return {};
  words.erase(words.begin());
  return words;
}

TEST(CiFiles, UsesValidCommands) {
  std::size_t commands = 0;
  for (const EmbeddedFile& file : ci_files()) {
    SCOPED_TRACE(file.name);
    for_each_ci_line(file.content, [&](const std::string& line) {
      const Arguments words = command_arguments(line);
      if (words.empty()) return;
      EXPECT_NO_THROW(check_command_line(words)) << line;
      ++commands;
    });
  }
  EXPECT_GE(commands, 10U);  // the search found the commands
}

TEST(CiFiles, UsesFlagsOfCompareAsConfigurationKeys) {
  std::size_t keys = 0;
  for_each_ci_line(file_named("ci.conf"), [&](std::string line) {
    if (line.starts_with("# ")) line.erase(0, 2);
    const std::size_t equals = line.find(" = ");
    const bool is_key =
        line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == equals && equals != 0;
    if (equals == line.npos || !is_key) return;
    EXPECT_NO_THROW(
        check_command_line({"compare", "--" + line.substr(0, equals), line.substr(equals + 3)}))
        << line;
    ++keys;
  });
  EXPECT_EQ(keys, 9U);
}

TEST(CiFiles, BeginsAcceptedSlowdownsWithExample) {
  const std::string text(file_named("accepted.conf"));
  EXPECT_TRUE(compare::parse_accepted(text, "accepted.conf").empty());
  const std::string example = text.substr(text.find("\n# ") + 3);
  EXPECT_EQ(compare::parse_accepted(example, "example").size(), 1U);
}

TEST(CiFiles, FindsCommentByMarker) {
  EXPECT_THAT(std::string(file_named("comment.yml")),
              HasSubstr("startswith(\"" + std::string(compare::kCommentMarker) + "\")"));
}

TEST(CiFiles, StatesPermissionsOfWorkflows) {
  for (const char* name : {"gate.yml", "comment.yml"}) {
    const std::string text(file_named(name));
    EXPECT_THAT(text, HasSubstr("\npermissions:\n")) << name;
    EXPECT_THAT(text, HasSubstr("- uses: ./.github/actions/loaderscope\n")) << name;
    EXPECT_EQ(text.find("write-all"), text.npos) << name;
    EXPECT_EQ(text.find("pull_request_target"), text.npos) << name;
    // Names from a pull request never reach a script, which would execute them.
    for_each_ci_line(text, [&](const std::string& line) {
      const std::size_t expression = line.find("${{");
      const bool is_value = line.find(": ") < expression;
      EXPECT_TRUE(expression == line.npos || (is_value && !line.starts_with("run:"))) << line;
    });
  }
}

// Parses YAML, and each of its scripts by the shell.
constexpr const char* kCheck = R"(
import subprocess, sys, yaml
def scripts(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == 'run': yield value
            elif key in ('script', 'after_script'): yield from value
            else: yield from scripts(value)
    elif isinstance(node, list):
        for value in node: yield from scripts(value)
found = list(scripts(yaml.safe_load(open(sys.argv[1]))))
assert found, 'no script'
for script in found: subprocess.run(['bash', '-n', '-c', script], check=True)
)";

TEST(CiFiles, HoldsYamlWithValidShellScripts) {
  if (std::system("python3 -c 'import yaml' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3-yaml is missing";
  const std::string place = testing::TempDir() + "loaderscope_ci." + std::to_string(::getpid());
  std::ofstream(place + ".py") << kCheck;
  for (const EmbeddedFile& file : ci_files()) {
    if (!file.name.ends_with(".yml")) continue;
    std::ofstream(place + ".yml") << file.content;
    EXPECT_EQ(std::system(("python3 " + place + ".py " + place + ".yml").c_str()), 0) << file.name;
  }
  std::remove((place + ".py").c_str());
  std::remove((place + ".yml").c_str());
}

}  // namespace
}  // namespace loaderscope
