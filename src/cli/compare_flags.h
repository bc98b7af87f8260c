// The flags of compare, and what they ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/own_flags.h"
#include "experiment/compare/compare.h"

namespace loaderscope {

struct CompareFlags {
  explicit CompareFlags(CLI::App& app);

  OwnFlags own;
  ConfigFlags base;
  std::vector<std::string> results;
};

compare::Options options_of(const OwnFlags& flags);  // throws UsageError

// By --fail-on and --cannot-tell. Throws UsageError where they are wrong, whatever the judgement.
ExitCode exit_code_of(const OwnFlags& flags, const compare::Judgement& judgement,
                      const std::optional<compare::Anchor>& anchor);

}  // namespace loaderscope
