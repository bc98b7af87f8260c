// What a sample takes of the things that ranks share.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

struct SampleNeeds {
  double stored_bytes = 0;
  double cpu_ns = 0;         // of its host's cores: workers, feeders, pin thread and trainer
  double decode_cpu_ns = 0;  // of `cpu_ns`
  // Of one worker, where nobody makes it wait for a core: of the rank whose samples take longest.
  double worker_ns = 0;
};

// The mean over all samples of a run, but for `worker_ns`.
SampleNeeds needs_of_sample(const RunRecord& record);

}  // namespace loaderscope
