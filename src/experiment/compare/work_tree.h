// A commit of the current git repository in a folder of its own, removed with all that was built in
// it.
#pragma once

#include <functional>
#include <string>
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

}  // namespace loaderscope::compare
