// The flags of compare, and what they ask for.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "cli/command_flags.h"
#include "experiment/compare/gate.h"

namespace loaderscope {

struct CompareFlags {
  explicit CompareFlags(CLI::App& app);

  CommandFlags own;
  ConfigFlags base;
  std::vector<std::string> results;
};

compare::Options options_of(const CommandFlags& flags);  // throws UsageError

// Reads the given file or the file at the default place. Throws UsageError.
std::vector<compare::Accepted> accepted_of(const CommandFlags& flags);
std::string date_of(std::chrono::system_clock::time_point now);  // "2026-11-23", of UTC

ExitCode exit_code_of(compare::Gate gate);

// Returns the command that makes the same comparison again. It has the commits, so it does not
// change with branches.
std::string compare_command(const CompareFlags& flags, const RunConfig& given,
                            const std::array<compare::Arm, 2>& arms);

// Returns the file of the repository that makes the batches of both sides; "" if unknown.
std::string file_of_batches(const RunConfig& given);

}  // namespace loaderscope
