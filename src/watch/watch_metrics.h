// The values of a watched job for monitors.
#pragma once

#include <filesystem>

#include "machine/container.h"
#include "monitor/live_metric.h"
#include "watch/watch.h"

namespace loaderscope::watch {

// Labels that identify a job: its name, framework, pod and container.
monitor::LiveLabels job_labels(const Watch& watch, const JobIdentity& identity,
                               const std::string& host);

// Values of the processes, the GPUs and the machine, which `run` knows too.
void add_process_metrics(const Watch& watch, monitor::LiveSamples& samples);

// Values that are known only from looks at threads. `recent` is the last minute.
void add_activity_metrics(const Watch& recent, monitor::LiveSamples& samples);

// All values of a job that is watched from outside.
monitor::LiveSamples live_samples(const Watch& recent, const JobIdentity& identity,
                                  const std::string& host);

}  // namespace loaderscope::watch
