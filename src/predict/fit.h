// From a record to what its stages took.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/pipeline/fitted_costs.h"

namespace loaderscope::model {

// Without samples when the run declared what they cost. Throws RunError for a run on real data
// without sample rows.
FittedCosts fit_costs(const RunRecord& record, std::vector<std::string>& notes);

// Where a program trains without a GPU, sets how many threads its compute keeps on the cores, and
// what it takes without the loader beside it. `run` runs the base case in the model.
void fit_compute(FittedCosts& costs, const RunRecord& record,
                 const std::function<RunRecord(const FittedCosts&)>& run);

// Sets the load of other processes, so that the threads of the model wait for a core as large a
// part of their time as those of the run did, as far as others are known to have taken the cores.
void fit_other_threads(FittedCosts& costs, const RunRecord& record,
                       const std::function<RunRecord(const FittedCosts&)>& run,
                       std::vector<std::string>& notes);

}  // namespace loaderscope::model
