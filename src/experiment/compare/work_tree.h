// A commit of the current git repository in a folder of its own, removed with all that was built in
// it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/compare/compare.h"
#include "machine/tool_run.h"

namespace loaderscope::compare {

// What git says of the folder that we work in. Throws RunError where it is in no repository, or git
// is not there.
struct Repository {
  std::string root;
  std::string below;      // from there to where we work: "" or "sub/folder/"
  bool is_dirty = false;  // with changes that no commit has
};
Repository find_repository();

// As git diff --name-status -z tells it.
std::string changes_between(const Repository& repository, const std::string& a,
                            const std::string& b);

// Behind `good`, up to `bad`, in the order of time, merges as one. Throws RunError where there are
// none.
std::vector<Commit> commits_between(const Repository& repository, const std::string& good,
                                    const std::string& bad);

// The name of the folders that hold work trees begins so. A later run knows by it what a killed one
// left in the repository.
inline constexpr const char* kWorkTreesPrefix = "loaderscope-compare-";

class WorkTree {
 public:
  // Of `ref`, below `place`, with the submodules that the repository has. Throws RunError.
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
