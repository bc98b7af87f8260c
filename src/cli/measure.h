// One run of a configuration, with its progress on standard error.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "loaderscope/engine.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

class JobOfProcesses;

// Runs the resolved `config`. `notes` are the first notes of the record. `job` is the job that this
// process is a part of; null without one.
RunRecord measure(const RunConfig& config, const MachineFacts& machine,
                  const std::vector<std::string>& notes, const std::atomic<int>& stop_signal,
                  const Knockouts& knockouts = {}, const ReplaySchedule* replay = nullptr,
                  JobOfProcesses* job = nullptr);

}  // namespace loaderscope
