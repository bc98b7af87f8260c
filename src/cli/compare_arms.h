// The two arms of a comparison, as the command line gives them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/private_folder.h"
#include "cli/fresh_run.h"
#include "cli/own_flags.h"
#include "experiment/compare/compare.h"
#include "experiment/compare/work_tree.h"

namespace loaderscope {

// How each arm is run, with the work trees of refs for as long as this lives.
class CompareArms {
 public:
  // Throws UsageError where the flags name no two arms, RunError where a ref cannot be had or
  // built.
  CompareArms(const OwnFlags& flags, const RunConfig& base, const std::function<bool()>& stopped);

  const std::array<compare::Arm, 2>& arms() const { return arms_; }
  bool same_flags() const { return same_flags_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // See compare::Context; behind the first run of A. "" of what are no refs, or are built.
  std::string same_by_construction() const;
  RunRecord run(std::int64_t arm, const compare::RunLength& length, Nanos patience) const;

 private:
  void take_flags(const OwnFlags& flags);
  void take_binaries(const OwnFlags& flags);
  void take_refs(const OwnFlags& flags, const RunConfig& base);

  std::string touched_file() const { return place_.path() + "/touched"; }

  const std::function<bool()> stopped_;
  const RunConfig base_;
  PrivateFolder place_;
  std::vector<std::unique_ptr<compare::WorkTree>> trees_;
  std::array<FreshRun, 2> runs_;
  std::array<compare::Arm, 2> arms_;
  bool same_flags_ = true;
  std::string changes_;  // between refs that are not built
  std::vector<std::string> notes_;
};

}  // namespace loaderscope
