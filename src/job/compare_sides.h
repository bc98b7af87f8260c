// One comparison of two sides. Each side is a way to start new processes of loaderscope. A side may
// be a commit of the current repository.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/private_folder.h"
#include "experiment/compare/commits.h"
#include "experiment/compare/compare.h"
#include "job/fresh_run.h"

namespace loaderscope {

struct SideSetup {
  compare::Arm arm;
  FreshRun run;
};

// Makes a side from the flags that both sides have.
SideSetup plain_arm(const std::string& name, const RunConfig& base);

struct PairContext {
  const RunConfig& base;
  compare::Options options;
  std::function<bool()> stopped;
  std::function<std::string()> same_by_construction{};  // see compare::Context
  // Observer of each run of either side, before the run is kept; may be empty.
  std::function<void(std::int64_t arm, RunRecord& record)> look{};
};

// Called after each run, with their number and the share of the planned runs.
using PairProgress = std::function<void(std::int64_t runs, double share)>;

compare::Comparison compare_pair(const SideSetup& a, const SideSetup& b, const PairContext& context,
                                 const PairProgress& progress);

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
