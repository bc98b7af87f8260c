// One comparison of two sides. Each side is a way to start new processes of loaderscope.
#pragma once

#include <functional>
#include <string>

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

}  // namespace loaderscope
