// Settings of a project: the table [tool.loaderscope] of pyproject.toml, or the file
// loaderscope.toml. Each key is the name of a flag, as in a scenario.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

// One value of one key. A list has a line for each of its values.
struct ProjectLine {
  std::string place;    // "pyproject.toml:14"
  std::string command;  // "run" of [tool.loaderscope.run]; "" for all commands
  std::string key;
  std::string value;
  bool is_of_list = false;

  bool operator==(const ProjectLine&) const = default;
};

struct Project {
  std::string path;    // relative to the current folder: "../pyproject.toml"
  std::string folder;  // "..", or "" for the current folder
  std::vector<ProjectLine> lines;
};

// Searches `folder` and the folders above it, up to the root of its repository. Without a
// repository, it searches `folder` only, as a file above it may be another person's. The first file
// with settings counts: loaderscope.toml, or a pyproject.toml with a table for loaderscope. Returns
// nothing if no such file exists. Throws UsageError that names the file and the line.
std::optional<Project> find_project(const std::filesystem::path& folder);

// Parses the text of a file. Returns nothing if a `pyproject` has no table for loaderscope. Throws
// UsageError. A build without TOML refuses every file with settings.
std::optional<std::vector<ProjectLine>> parse_project(std::string_view text,
                                                      const std::string& path, bool is_pyproject);

// The variable of the environment that turns this off in programs which get all settings as flags.
inline constexpr const char* kNoProject = "LOADERSCOPE_NO_PROJECT";

}  // namespace loaderscope
