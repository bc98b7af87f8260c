// Needs of a sample of the resources that ranks share.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

struct SampleNeeds {
  double stored_bytes = 0;
  double cpu_ns = 0;         // CPU time on its host: workers, feeders, pin thread and trainer
  double decode_cpu_ns = 0;  // part of `cpu_ns`
  // Time of one worker without contention, for the rank whose samples take longest.
  double worker_ns = 0;
};

// Returns the means over all samples of a run, except for `worker_ns`.
SampleNeeds needs_of_sample(const RunRecord& record);

}  // namespace loaderscope
