// What a measured job turned out to be, as the parts of its record.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "guest/host/job_memory.h"
#include "guest/host/messages.h"
#include "guest/host/process_watch.h"
#include "guest/host/training_processes.h"

namespace loaderscope::guest {

// Of a job that has ended and was started at `started`: its ranks, the settings in force, and what
// its GPUs did. `histories` are by rank, and have folded all that they know; they are used up.
void add_ranks(RunRecord& record, const std::vector<LoaderHistory*>& histories, Nanos started);

// A note on the loader that is measured; nothing where none is.
void note_measured_loader(RunRecord& record, const TrainingProcesses& training);

// What is known of the job beside the times of its batches. The ranks are in the record by now.
void add_metrics(RunRecord& record, const LoaderHistory* measured, const Messages& messages,
                 const ProcessWatch& watch, const JobMemory& memory);

// The settings of the loader that are in force.
void apply_loader_settings(RunConfig& config, const LoaderFacts& loader, std::int64_t ranks);
// What the program's data and training turned out to be, as the settings that they would be.
void apply_measured_settings(RunConfig& config, const RankRecord& rank, const LoaderFacts& loader);

// Brings one's rows behind the others.
template <typename Rows>
void move_to(Rows& to, Rows from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace loaderscope::guest
