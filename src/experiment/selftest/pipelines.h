// The pipelines of the self-test, in which no other stage can hide an injected delay, and the
// delays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope::selftest {

// A pipeline with a delay in one stage.
struct Delay {
  Stage stage;
  RunConfig config;
  Nanos per_step = 0;  // time that each step becomes longer
};

// A pipeline as it is, and with a delay in each of its stages in turn.
struct Trial {
  std::string pipeline;
  bool real = false;  // on images, not on declared costs
  RunConfig base;
  std::vector<Delay> delays;
};

// Returns true if a flag or scenario key may change the self-test: the data, the work on a sample,
// a third-party loader, the device and the engine. All other settings make a delay visible.
bool may_change(const Field& field);

// Returns the given settings that are `wanted`.
RunConfig taken_over(const RunConfig& given, const std::function<bool(const Field&)>& wanted);

// Returns true if the user names data. Otherwise, images are made.
bool names_data(const RunConfig& given);

// The pipelines with the settings of `given` that may change them; those on real data only where
// it names data. Throws UsageError.
std::vector<Trial> make_trials(const RunConfig& given, const MachineLimits& limits);

// The user's own loader as a pipeline of the self-test: what stages it has is seen by running it.
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
