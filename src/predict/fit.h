// Fit of the stage times of a record.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/pipeline/fitted_costs.h"

namespace loaderscope::model {

// Returns costs without samples if the run declared their costs. Throws RunError for a run on real
// data without sample rows.
FittedCosts fit_costs(const RunRecord& record, std::vector<std::string>& notes);

// Sets, for a program that trains without a GPU, the number of threads that its compute keeps on
// the cores, and its time without the loader. `run` runs the base case in the model.
void fit_compute(FittedCosts& costs, const RunRecord& record,
                 const std::function<RunRecord(const FittedCosts&)>& run);

// Sets the load of other processes. With it, the threads of the model wait for a core for the same
// share of their time as in the run. The load is limited by what others are known to have taken.
void fit_other_threads(FittedCosts& costs, const RunRecord& record,
                       const std::function<RunRecord(const FittedCosts&)>& run,
                       std::vector<std::string>& notes);

}  // namespace loaderscope::model
