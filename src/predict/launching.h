// Launches of a program's thread. The GPU runs kernels while the thread launches later ones. The
// thread asks for the next batch when it has launched all kernels, and not when they have ended.
#pragma once

#include "engine/pipeline/fitted_costs.h"

namespace loaderscope::model {

// Returns true if the record has the GPU's own times of a program's steps.
bool tells_launching(const RunRecord& record);
// Sets the time of the launches before and during a step's compute. If the rank waits for the
// compute in most steps, sets that instead.
void fit_launching(const RankRecord& record, FittedCosts::Rank& rank);

}  // namespace loaderscope::model
