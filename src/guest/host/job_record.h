// Parts of the record of a measured job.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "guest/host/messages.h"
#include "guest/host/process_watch.h"
#include "guest/host/resource_usage.h"
#include "guest/host/training_processes.h"

namespace loaderscope::guest {

// Adds the ranks, the settings in force and the GPU activity of a job that has ended. `started` is
// the time of its start. `histories` are ordered by rank, have folded all their steps, and are used
// up.
void add_ranks(RunRecord& record, const std::vector<LoaderHistory*>& histories, Nanos started);

// Adds a note on the measured loader. Does nothing if no loader was measured.
void note_measured_loader(RunRecord& record, const TrainingProcesses& training);

// Adds the facts about the program, and all metrics besides the times of batches. Requires the
// ranks in the record. `started` is the time of the job's start.
void add_metrics(RunRecord& record, const LoaderHistory* measured, const Messages& messages,
                 const ProcessWatch& watch, const JobMemory& memory, Nanos started);

// The settings of the loader that are in force.
void apply_loader_settings(RunConfig& config, const LoaderFacts& loader, std::int64_t ranks);
// Translates the measured data and training into the settings that they correspond to.
void apply_measured_settings(RunConfig& config, const RankRecord& rank, const LoaderFacts& loader);

// Appends the rows of `from` to `to`.
template <typename Rows>
void move_to(Rows& to, Rows from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace loaderscope::guest
