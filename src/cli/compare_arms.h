// Sides of a comparison, from the command line.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_flags.h"
#include "job/compare_sides.h"

namespace loaderscope {

struct CompareArms {
  // Throws UsageError if the flags do not name two sides, RunError if a commit is missing or cannot
  // be built.
  CompareArms(const CommandFlags& flags, const RunConfig& base,
              const std::function<bool()>& stopped);

  // See compare::Context. Returns "" if the sides are no commits.
  std::string same_by_construction() const;

  std::optional<CommitSides> refs;  // commits, if the sides are commits
  std::array<SideSetup, 2> two;
  std::optional<SideSetup> anchor;
  bool same_flags = true;
  std::vector<std::string> notes;

 private:
  void take_flags(const CommandFlags& flags);
  void take_binaries(const CommandFlags& flags);
  void take_refs(const CommandFlags& flags, const RunConfig& base,
                 const std::function<bool()>& stopped);
};

}  // namespace loaderscope
