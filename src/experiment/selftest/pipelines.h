// What the self-test runs: pipelines in which nothing else can hide an injected delay, and the
// delays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope::selftest {

// A pipeline with a delay in one stage.
struct Delay {
  Stage stage;
  RunConfig config;
  Nanos per_step = 0;  // by how much each step gets longer
};

// A pipeline as it is, and with a delay in each of its stages in turn.
struct Trial {
  std::string pipeline;
  bool real = false;  // on images, not on declared costs
  RunConfig base;
  std::vector<Delay> delays;
};

// Whether a flag or scenario key may change what the self-test runs: the data, the work on a
// sample, somebody else's loader, the device and the engine. The rest is what makes a delay
// visible.
bool may_change(const Field& field);

// What is given of the settings that are `wanted`.
RunConfig taken_over(const RunConfig& given, const std::function<bool(const Field&)>& wanted);

// Whether data is named, rather than images to be made.
bool names_data(const RunConfig& given);

// The pipelines with the settings of `given` that may change them; those on real data only where
// it names data. Throws UsageError.
std::vector<Trial> make_trials(const RunConfig& given, const MachineLimits& limits);

}  // namespace loaderscope::selftest
