#include "settings/project.h"

#include <system_error>

#include "settings/scenario.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

// Returns the root of the repository that has `folder`, or `folder` itself.
fs::path last_folder(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = folder;; at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return at;
    if (!at.has_relative_path()) return folder;
  }
}

std::optional<Project> read_folder(const fs::path& folder, const fs::path& from) {
  std::error_code error;
  for (const bool is_pyproject : {false, true}) {
    const fs::path file = folder / (is_pyproject ? "pyproject.toml" : "loaderscope.toml");
    if (!fs::exists(file, error)) continue;
    Project project;
    project.path = file.lexically_relative(from).string();
    if (folder != from) project.folder = folder.lexically_relative(from).string();
    auto lines = parse_project(read_key_file(project.path), project.path, is_pyproject);
    if (!lines) continue;
    project.lines = std::move(*lines);
    return project;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Project> find_project(const fs::path& folder) {
  const fs::path last = last_folder(folder);
  for (fs::path at = folder;; at = at.parent_path()) {
    if (std::optional<Project> project = read_folder(at, folder)) return project;
    if (at == last) return std::nullopt;
  }
}

}  // namespace loaderscope
