// The cores of each host, and the threads that compete for them.
#pragma once

#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

struct CoreModel {
  // `fitted` may be null. `has_device`: the compute of a step has a device.
  CoreModel(const RunConfig& config, const FittedCosts* fitted, bool has_device);

  std::vector<double> per_host;
  double other_threads = 0;       // threads of other processes, which take their share of the cores
  double making_threads = 1;      // the most of one worker
  double compute_threads = 0;     // cores that a step's compute takes; 0: a device's own time
  bool decodes_remotely = false;  // samples are decoded on hosts without ranks
  // Never more runnable threads than cores: no thread waits for one. The plan knows its threads and
  // sets this.
  bool exclusive = false;
};

}  // namespace loaderscope
