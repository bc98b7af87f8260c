// The user's own loader as a pipeline of the self-test: what stages it has is seen by running it.
#pragma once

#include <functional>

#include "experiment/selftest/pipelines.h"
#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope::selftest {

using Run = std::function<RunRecord(const RunConfig&)>;

// One trial, of `given`.loader: its delays are in those stages that `run` shows in every sample or
// batch. Where it cannot make small batches, it makes its own. `interrupted`: without delays.
// Throws UsageError, and what `run` throws.
struct OwnLoader {
  Trial trial;
  std::vector<std::string> notes;
  bool interrupted = false;
};
OwnLoader try_loader(const RunConfig& given, const MachineLimits& limits, const Run& run);

}  // namespace loaderscope::selftest
