// Commits of the current git repository: their work trees, the first that is slower, and whether a
// change between two of them can reach the loader at all.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare/compare.h"
#include "machine/tool_run.h"

namespace loaderscope::compare {

// The git repository of the current folder. Throws RunError if the folder is in no repository, or
// git is missing.
struct Repository {
  std::string root;
  std::string below;      // path from the root to the current folder: "" or "sub/folder/"
  bool is_dirty = false;  // some changes are in no commit
};
Repository find_repository();

// Returns the output of git diff --name-status -z.
std::string changes_between(const Repository& repository, const std::string& a,
                            const std::string& b);

// Returns the commits after `good`, up to `bad`, in the order of time. A merge is one commit.
// Throws RunError if there are none.
std::vector<Commit> commits_between(const Repository& repository, const std::string& good,
                                    const std::string& bad);

// The name of the folders that hold work trees begins so. A later run knows by it what a killed one
// left in the repository.
inline constexpr const char* kWorkTreesPrefix = "loaderscope-compare-";

// A commit in a folder of its own, removed with all that was built in it.
class WorkTree {
 public:
  // Checks out `ref` below `place`, with the submodules of the repository. Throws RunError.
  WorkTree(const Repository& repository, const std::string& ref, const std::string& place,
           const std::function<bool()>& stopped);
  ~WorkTree();
  WorkTree(const WorkTree&) = delete;
  WorkTree& operator=(const WorkTree&) = delete;

  const std::string& commit() const { return commit_; }  // 12 digits of it
  const std::string& root() const { return path_; }
  std::string folder() const { return path_ + "/" + repository_.below; }
  // Runs a shell's command there. Throws RunError where it fails.
  void build(const std::string& command, const std::function<bool()>& stopped) const;

 private:
  [[noreturn]] void fail(const std::string& what, const ToolEnd& end) const;  // leaves nothing
  void remove() const;

  const Repository repository_;
  std::string ref_, commit_, path_;
};

// The files below its work tree that one run of the loader has read and loaded, as
// loaderscope_guest/file_trace.py writes them.
struct FileTrace {
  std::set<std::string> files;    // paths as git writes them
  bool started_programs = false;  // these may read anything
};
FileTrace parse_file_trace(std::string_view lines);

struct ChangedFile {
  char how = 'M';  // status from git: A, D, M, T
  std::string path;
};
std::vector<ChangedFile> read_changes(std::string_view name_status);  // parses git diff -z

// "README.md, which the loader does not read": why nothing that changed can reach it. "": something
// may, or it cannot be known.
std::string why_unaffected(const std::vector<ChangedFile>& changes, const FileTrace& touched);

// Finds the first of several commits that is slower.
enum class CommitState : std::uint8_t { good, bad, unknown };

// The rest of commits 0 .. n - 1 in the order of time, of which the last is bad. The first bad one
// is in (good, bad]. good = -1: no commit is known to be good.
struct SuspectRange {
  std::int64_t good = -1, bad = 0;

  bool is_one() const { return bad == good + 1; }
};
// Looks at one in the middle, and ends where a look says nothing.
SuspectRange bisect(std::int64_t commits, const std::function<CommitState(std::int64_t)>& look);

// Nearer to the good end or to the bad one, of which `whole` is the difference that is searched:
// where chance does not leave both open.
CommitState classify_commit(const ComparisonResult& commit_result, const Difference& whole);

// Returns the largest number of calls of `look`.
std::int64_t looks_for(std::int64_t commits);

}  // namespace loaderscope::compare
