// Arms of a comparison that are commits of the current repository.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/private_folder.h"
#include "experiment/compare/commits.h"
#include "job/compare_pair.h"

namespace loaderscope {

// Sides that are commits. Each has a work tree, as long as this object lives.
class CommitSides {
 public:
  // `build` is the command that runs in each work tree; "": none. Throws UsageError if no code of a
  // commit would run, RunError without a repository.
  CommitSides(const RunConfig& base, const std::string& build,
              const std::function<bool()>& stopped);

  // Throws RunError if `ref` is missing or cannot be built.
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
