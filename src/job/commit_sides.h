// Arms of a comparison that are commits of the current repository.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/private_folder.h"
#include "experiment/compare/work_tree.h"
#include "job/compare_pair.h"

namespace loaderscope {

// With a work tree for each, for as long as this lives.
class CommitSides {
 public:
  // `build`: run in each; "": nothing. Throws UsageError where nothing of a commit would be run,
  // RunError where there is no repository.
  CommitSides(const RunConfig& base, const std::string& build,
              const std::function<bool()>& stopped);

  // Throws RunError where `ref` cannot be had or built.
  SideSetup add(const std::string& name, const std::string& ref);
  // Does the same, and traces the files that the first run reads, unless the side is built.
  SideSetup add_watched(const std::string& name, const std::string& ref);
  // Returns the reason why no change can affect the loader; "" if one may. Call it after the first
  // run of the traced side.
  std::string why_unaffected(const std::string& from, const std::string& to) const;

  const compare::Repository& repository() const { return repository_; }

 private:
  std::string touched_file() const { return place_.path() + "/touched"; }

  const RunConfig base_;
  const std::string build_;
  const std::function<bool()> stopped_;
  const compare::Repository repository_;
  PrivateFolder place_;
  std::vector<std::unique_ptr<compare::WorkTree>> trees_;
};

}  // namespace loaderscope
