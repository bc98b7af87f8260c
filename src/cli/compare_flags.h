// The flags of compare, what they ask for, and the sides that they name.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_flags.h"
#include "experiment/compare/gate.h"
#include "job/compare_sides.h"

namespace loaderscope {

struct CompareFlags {
  explicit CompareFlags(CLI::App& app);

  CommandFlags own;
  ConfigFlags base;
  std::vector<std::string> results;
};

compare::Options compare_options(const CommandFlags& flags);  // throws UsageError

// Reads the given file or the file at the default place. Throws UsageError.
std::vector<compare::Accepted> accepted_changes(const CommandFlags& flags);
std::string utc_date(std::chrono::system_clock::time_point now);  // "2026-11-23", of UTC

ExitCode gate_exit_code(compare::Gate gate);

// Returns the command that makes the same comparison again. It has the commits, so it does not
// change with branches.
std::string compare_command(const CompareFlags& flags, const RunConfig& given,
                            const std::array<compare::Arm, 2>& arms);

// Returns the file of the repository that makes the batches of both sides; "" if unknown.
std::string file_of_batches(const RunConfig& given);

// Sides of a comparison, from the command line.
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
