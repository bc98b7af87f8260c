// The steps of resolve(), in its order. All may throw UsageError, but the last two.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope::settings {

// A program or a loader that is given is measured from inside; what contradicts that is refused.
void fill_engine(RunConfig& config);

// Data that is given says what the source is; what contradicts that is refused.
void fill_source(RunConfig& config);
// A real device where there is one. A link that is given describes a simulated one.
void fill_device(RunConfig& config, const MachineLimits& limits, std::vector<std::string>& notes);
void fill_batch_size(RunConfig& config);  // a preset is the time of a batch of a certain size
// Checks declared values against real data, and data settings against declared data.
void check_data(const RunConfig& config);
void fill_memory(RunConfig& config);  // uses pin-memory, which may contradict it
// uses executor, which may contradict it
void fill_workers(RunConfig& config, const MachineLimits& limits);

void check_sizes(const RunConfig& config);
void check_contradictions(const RunConfig& config);
void fill_window(RunConfig& config);

// Returns true if a declared cost takes time, so that a run of it ends.
bool has_cost(const RunConfig& config);
void note_no_effect(const RunConfig& config, std::vector<std::string>& notes);

}  // namespace loaderscope::settings
