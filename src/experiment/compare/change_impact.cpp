#include "experiment/compare/change_impact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope::compare {
namespace {

template <std::size_t n>
bool ends_with_any(std::string_view name, const std::array<std::string_view, n>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

template <std::size_t n>
bool begins_with_any(std::string_view name, const std::array<std::string_view, n>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
}

// For people, or for the machine that tests: no loader looks for one by its mere being there.
bool is_beside_the_code(std::string_view path) {
  constexpr std::array<std::string_view, 3> kWritten = {".md", ".rst", ".adoc"};
  constexpr std::array<std::string_view, 8> kNames = {"LICENSE",    "CHANGELOG",  "AUTHORS",
                                                      "CODEOWNERS", ".gitignore", ".gitattributes",
                                                      ".gitlab-ci", ".pre-commit"};
  return ends_with_any(path, kWritten) || begins_with_any(name_in(path), kNames) ||
         path.starts_with(".github/");
}

// Decides which packages are installed, here or where it is built.
bool is_of_packages(std::string_view path) {
  constexpr std::array<std::string_view, 7> kNames = {
      "requirements", "pyproject", "setup.", "environment.", "Pipfile", "poetry", "conda"};
  constexpr std::array<std::string_view, 2> kEndings = {".lock", ".pth"};
  return begins_with_any(name_in(path), kNames) || ends_with_any(path, kEndings);
}

// Returns true for files that Python opens itself, so that the trace is complete. Libraries open
// pictures and compiled code, which the trace cannot see.
bool is_opened_by_python(std::string_view path) {
  constexpr std::array<std::string_view, 11> kEndings = {
      ".py", ".pyi", ".ipynb", ".json", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".csv", ".txt"};
  return ends_with_any(path, kEndings);
}

bool may_reach(const ChangedFile& change, const FileTrace& touched) {
  if (touched.files.contains(change.path) || is_of_packages(change.path)) return true;
  if (is_beside_the_code(change.path)) return false;
  return change.how != 'M' || !is_opened_by_python(change.path);
}

}  // namespace

FileTrace parse_file_trace(std::string_view lines) {
  FileTrace touched;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string line(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line == "!") {
      touched.started_programs = true;
    } else if (!line.empty()) {
      touched.files.insert(line);
    }
  }
  return touched;
}

std::vector<ChangedFile> read_changes(std::string_view name_status) {
  std::vector<ChangedFile> changes;
  std::vector<std::string> words;
  while (!name_status.empty()) {
    const std::size_t end = std::min(name_status.find('\0'), name_status.size());
    words.emplace_back(name_status.substr(0, end));
    name_status.remove_prefix(std::min(end + 1, name_status.size()));
  }
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    changes.push_back({words[i].empty() ? '?' : words[i].front(), words[i + 1]});
  return changes;
}

std::string why_unaffected(const std::vector<ChangedFile>& changes, const FileTrace& touched) {
  if (changes.empty()) return "A and B are the same files";
  const bool knows = !touched.files.empty() && !touched.started_programs;
  if (!knows || std::any_of(changes.begin(), changes.end(),
                            [&](const ChangedFile& change) { return may_reach(change, touched); }))
    return "";
  std::string text = shown_text(changes.front().path);
  if (changes.size() > 1)
    text += fmt::format(" and {} more", plural(std::ssize(changes) - 1, "file"));
  return fmt::format("the loader reads nothing of what changed ({})", text);
}

}  // namespace loaderscope::compare
