// Steps of resolve(), in their order. All except the last two may throw UsageError.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope::settings {

// A given program or loader is measured from inside. Refuses settings that contradict it.
void fill_engine(RunConfig& config);

// Given data determines the source. Refuses settings that contradict it.
void fill_source(RunConfig& config);
// Uses a real device if there is one. A given link describes a simulated device.
void fill_device(RunConfig& config, const MachineLimits& limits, std::vector<std::string>& notes);
void fill_batch_size(RunConfig& config);  // a preset is the time of a batch of a certain size
// Checks declared values against real data, and data settings against declared data.
void check_data(const RunConfig& config);
void fill_memory(RunConfig& config);  // uses pin-memory, which may contradict it
// Uses executor, which may contradict it.
void fill_workers(RunConfig& config, const MachineLimits& limits);

void check_sizes(const RunConfig& config);
void check_contradictions(const RunConfig& config);
void fill_window(RunConfig& config);

// Returns true if a declared cost takes time, so that a run of it ends.
bool has_cost(const RunConfig& config);
void note_no_effect(const RunConfig& config, std::vector<std::string>& notes);

}  // namespace loaderscope::settings
