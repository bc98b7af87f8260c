// What a sample of a run takes of the things that ranks share, on average.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

struct SampleNeeds {
  double stored_bytes = 0;
  double cpu_ns = 0;         // of its host's cores: workers, feeders, pin thread and trainer
  double decode_cpu_ns = 0;  // of `cpu_ns`
  // Of one worker, where nobody makes it wait for a core: `read_waits_ns` for the storage.
  double worker_ns = 0, read_waits_ns = 0;
};

SampleNeeds needs_of_sample(const RunRecord& record);

// Of a step with its GPU's work, ns; 0: there is none.
double mean_step_compute(const RunRecord& record);

}  // namespace loaderscope
