#include "experiment/compare/commits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/failure_text.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope::compare {
namespace {

namespace fs = std::filesystem;
using CommandWords = std::vector<std::string>;

ToolEnd git(const std::string& folder, const CommandWords& words,
            const std::function<bool()>& stopped = {}) {
  CommandWords command = {"git"};
  if (!folder.empty()) command.insert(command.end(), {"-C", folder});
  command.insert(command.end(), words.begin(), words.end());
  return run_tool({.command = command, .stopped = stopped});
}

std::string without_line_feed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_shallow(const std::string& root) {
  return without_line_feed(git(root, {"rev-parse", "--is-shallow-repository"}).output) == "true";
}

std::string resolve_commit(const Repository& repository, const std::string& ref) {
  const ToolEnd found = git(repository.root, {"rev-parse", "--verify", "--quiet", "--short=12",
                                              "--end-of-options", ref + "^{commit}"});
  if (found.is_fine()) return without_line_feed(found.output);
  const std::string next =
      is_shallow(repository.root)
          ? "this clone is shallow, fetch the history first, as with fetch-depth: 0 or 'git fetch "
            "--unshallow'"
          : "look at 'git branch --all' and 'git tag', or fetch it first";
  throw RunError(shown_text(ref) + ": there is no such commit here", next);
}

void remove_work_tree(const Repository& repository, const std::string& path) {
  git(repository.root, {"worktree", "remove", "--force", "--force", path});
}

// "/tmp/loaderscope-compare-a1B2c3/0", if git's entry of a work tree names such a folder.
std::string folder_of_entry(const fs::path& entry) {
  std::ifstream input(entry / "gitdir");
  std::string line;
  std::getline(input, line);
  const fs::path folder = fs::path(line).parent_path();
  const bool is_ours = folder.parent_path().filename().string().starts_with(kWorkTreesPrefix);
  return folder.is_absolute() && is_ours ? folder.string() : "";
}

// Removes what killed comparisons left in the repository. Another container may use a folder that
// is missing here, so that only entries of at least a day are removed. `git worktree prune` would
// remove the entries of the user's own work trees, too, if their disk is not mounted.
void remove_leftovers(const Repository& repository) {
  std::error_code ignored;
  const std::string common =
      without_line_feed(git(repository.root, {"rev-parse", "--git-common-dir"}).output);
  const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::vector<std::string> left;
  for (const auto& entry :
       fs::directory_iterator(fs::path(repository.root) / common / "worktrees", ignored)) {
    const std::string folder = folder_of_entry(entry.path());
    if (folder.empty() || fs::exists(folder, ignored) || ignored) continue;
    if (fs::last_write_time(entry.path() / "gitdir", ignored) < yesterday && !ignored)
      left.push_back(folder);
  }
  for (const std::string& folder : left) remove_work_tree(repository, folder);
}

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

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
}

// For people, or for the machine that tests: no loader looks for one by its mere being there.
bool is_outside_code(std::string_view path) {
  constexpr std::array<std::string_view, 3> kWritten = {".md", ".rst", ".adoc"};
  constexpr std::array<std::string_view, 8> kNames = {"LICENSE",    "CHANGELOG",  "AUTHORS",
                                                      "CODEOWNERS", ".gitignore", ".gitattributes",
                                                      ".gitlab-ci", ".pre-commit"};
  return ends_with_any(path, kWritten) || begins_with_any(file_name(path), kNames) ||
         path.starts_with(".github/");
}

// Decides which packages are installed, here or where it is built.
bool is_of_packages(std::string_view path) {
  constexpr std::array<std::string_view, 7> kNames = {
      "requirements", "pyproject", "setup.", "environment.", "Pipfile", "poetry", "conda"};
  constexpr std::array<std::string_view, 2> kEndings = {".lock", ".pth"};
  return begins_with_any(file_name(path), kNames) || ends_with_any(path, kEndings);
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
  if (is_outside_code(change.path)) return false;
  return change.how != 'M' || !is_opened_by_python(change.path);
}

}  // namespace

Repository find_repository() {
  Repository repository;
  ToolEnd root;
  try {
    root = git("", {"rev-parse", "--show-toplevel"});
  } catch (const RunError&) {
    throw RunError("git: cannot be started",
                   "install it, or compare with --binary-a and --binary-b");
  }
  if (!root.is_fine())
    throw RunError("--ref-a: the current folder is in no git repository",
                   "go to one: " + shown_text(root.last_line()));
  repository.root = without_line_feed(root.output);
  repository.below = without_line_feed(git("", {"rev-parse", "--show-prefix"}).output);
  repository.is_dirty =
      !git(repository.root, {"status", "--porcelain", "--untracked-files=no"}).output.empty();
  return repository;
}

std::string changes_between(const Repository& repository, const std::string& a,
                            const std::string& b) {
  const ToolEnd end = git(repository.root, {"diff", "--name-status", "--no-renames", "-z", a, b});
  // A long output loses its beginning: only its end is kept.
  constexpr std::size_t kFitsWhole = 60'000;
  if (end.is_fine() && end.output.size() < kFitsWhole) return end.output;
  throw RunError("git diff: what changed from " + a + " to " + b + " cannot be had");
}

std::vector<Commit> commits_between(const Repository& repository, const std::string& good,
                                    const std::string& bad) {
  const std::string range =
      resolve_commit(repository, good) + ".." + resolve_commit(repository, bad);
  const ToolEnd end = git(repository.root, {"log", "--first-parent", "--reverse", "--max-count=500",
                                            "--format=%h%x09%an%x09%s", "--abbrev=12", range});
  std::vector<Commit> commits;
  std::istringstream lines(end.output);
  for (std::string line; end.is_fine() && std::getline(lines, line);) {
    std::istringstream parts(line);
    Commit one;
    std::getline(parts, one.commit, '\t');
    std::getline(parts, one.author, '\t');
    std::getline(parts, one.subject);
    commits.push_back(std::move(one));
  }
  if (commits.empty())
    throw RunError(
        "--bisect: there is no commit from " + shown_text(good) + " to " + shown_text(bad),
        "give the older one first");
  return commits;
}

WorkTree::WorkTree(const Repository& repository, const std::string& ref, const std::string& place,
                   const std::function<bool()>& stopped)
    : repository_(repository), ref_(ref), commit_(resolve_commit(repository, ref)), path_(place) {
  remove_leftovers(repository_);
  const ToolEnd added =
      git(repository_.root, {"worktree", "add", "--detach", "--quiet", path_, commit_}, stopped);
  if (!added.is_fine()) fail("git makes no work tree of it", added);
  std::error_code error;
  if (!fs::exists(path_ + "/.gitmodules", error)) return;
  const ToolEnd modules =
      git(path_, {"submodule", "update", "--init", "--recursive", "--quiet"}, stopped);
  if (!modules.is_fine()) fail("its submodules cannot be had", modules);
}

void WorkTree::fail(const std::string& what, const ToolEnd& end) const {
  remove();
  throw RunError(shown_text(ref_) + ": " + what + ": " + shown_text(end.last_line()));
}

WorkTree::~WorkTree() { remove(); }

void WorkTree::remove() const {
  std::error_code ignored;
  try {
    remove_work_tree(repository_, path_);
    // A build may have damaged its .git file. Without the folder, git removes the entry.
    if (fs::remove_all(path_, ignored) > 0) remove_work_tree(repository_, path_);
  } catch (const RunError&) {
    fs::remove_all(path_, ignored);
  }
}

void WorkTree::build(const std::string& command, const std::function<bool()>& stopped) const {
  const ToolEnd built =
      run_tool({.command = {"/bin/sh", "-c", command}, .folder = folder(), .stopped = stopped});
  if (built.is_fine()) return;
  const std::string said = shown_text(built.last_line());
  throw RunError("--build at " + shown_text(ref_) + " (" + commit_ +
                     "): " + describe_exit(built.status) +
                     (said.empty() ? ", and said nothing" : ": " + said),
                 "try it in a work tree of that commit");
}

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

SuspectRange bisect(std::int64_t commits, const std::function<CommitState(std::int64_t)>& look) {
  SuspectRange left{-1, commits - 1};
  while (!left.is_one()) {
    const std::int64_t middle = left.good + (left.bad - left.good) / 2;
    switch (look(middle)) {
      case CommitState::good:
        left.good = middle;
        break;
      case CommitState::bad:
        left.bad = middle;
        break;
      case CommitState::unknown:
        return left;
    }
  }
  return left;
}

CommitState classify_commit(const ComparisonResult& commit_result, const Difference& whole) {
  const Difference* one = commit_result.find(whole.name);
  if (one == nullptr) return CommitState::unknown;
  const double half = whole.change.mean / 2;
  const bool all_below = one->change.high<half, all_above = one->change.low> half;
  if (!all_below && !all_above) return CommitState::unknown;
  return all_above == (half > 0) ? CommitState::bad : CommitState::good;
}

std::int64_t looks_for(std::int64_t commits) {
  std::int64_t looks = 0;
  while ((std::int64_t{1} << looks) < commits) ++looks;
  return looks;
}

}  // namespace loaderscope::compare
