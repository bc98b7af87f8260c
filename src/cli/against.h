// The comparison of a run with an earlier one: run --against.
#pragma once

#include <optional>
#include <string>

#include "experiment/compare/compare.h"
#include "loaderscope/analysis.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

// Returns the noise that past comparisons saw on this machine. Returns nothing if `record` is of
// another machine.
std::optional<compare::KnownNoise> known_noise(const RunRecord& record);

// The earlier run. It is read before the new run starts, because that replaces "last".
class EarlierRun {
 public:
  // `given`: a saved result, or "last". `config`: the settings of the new run. Throws RunError if
  // the result is missing or damaged, was interrupted, or is of another program.
  EarlierRun(const std::string& given, const RunConfig& config);

  // Returns the comparison with the new run. Two runs that cannot be compared are an answer too.
  AgainstRun compare_with(const RunRecord& record) const;

 private:
  std::string given_;
  RunRecord record_;
};

// Returns the file of Python that `command` runs, or its module or first word. Exposed for tests.
std::string script_name(const std::vector<std::string>& command);

}  // namespace loaderscope
