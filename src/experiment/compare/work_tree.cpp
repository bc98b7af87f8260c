#include "experiment/compare/work_tree.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/failure_text.h"
#include "loaderscope/errors.h"
#include "machine/tool_run.h"

namespace loaderscope::compare {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

ToolEnd git(const std::string& folder, const Words& words,
            const std::function<bool()>& stopped = {}) {
  Words command = {"git"};
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

std::string commit_of(const Repository& repository, const std::string& ref) {
  const ToolEnd found = git(repository.root, {"rev-parse", "--verify", "--quiet", "--short=12",
                                              "--end-of-options", ref + "^{commit}"});
  if (found.is_fine()) return without_line_feed(found.output);
  const std::string next =
      is_shallow(repository.root)
          ? "this clone is shallow, fetch the history first, as with fetch-depth: 0 or 'git fetch "
            "--unshallow'"
          : "look at 'git branch --all' and 'git tag', or fetch it first";
  throw RunError(shown_text(ref) + ": there is no such commit here; " + next);
}

void remove_work_tree(const Repository& repository, const std::string& path) {
  git(repository.root, {"worktree", "remove", "--force", "--force", path});
}

// "/tmp/loaderscope-compare-a1B2c3/0", if git's entry of a work tree names such a folder.
std::string folder_of_entry(const fs::path& entry) {
  std::ifstream in(entry / "gitdir");
  std::string line;
  std::getline(in, line);
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

}  // namespace

Repository find_repository() {
  Repository repository;
  ToolEnd root;
  try {
    root = git("", {"rev-parse", "--show-toplevel"});
  } catch (const RunError&) {
    throw RunError("git: cannot be started; install it, or compare with --binary-a and --binary-b");
  }
  if (!root.is_fine())
    throw RunError("--ref-a: the current folder is in no git repository; go to one: " +
                   shown_text(root.last_line()));
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
  const std::string range = commit_of(repository, good) + ".." + commit_of(repository, bad);
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
    throw RunError("--bisect: there is no commit from " + shown_text(good) + " to " +
                   shown_text(bad) + "; give the older one first");
  return commits;
}

WorkTree::WorkTree(const Repository& repository, const std::string& ref, const std::string& place,
                   const std::function<bool()>& stopped)
    : repository_(repository), ref_(ref), commit_(commit_of(repository, ref)), path_(place) {
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
  throw RunError("--build at " + shown_text(ref_) + " (" + commit_ + "): " +
                 describe_exit(built.status) + (said.empty() ? ", and said nothing" : ": " + said) +
                 "; try it in a work tree of that commit");
}

}  // namespace loaderscope::compare
