// A program's own thread beside its GPU: kernels run while it launches later ones, and it asks for
// the next batch when it has launched them all, not when they have run.
#pragma once

#include "engine/pipeline/fitted_costs.h"

namespace loaderscope::model {

// Of a record that has the GPU's own times of a program's steps.
bool tells_launching(const RunRecord& record);
// Sets what the launches take before and beside a step's compute, or that the rank waits for the
// compute, where most of its steps do.
void fit_launching(const RankRecord& record, FittedCosts::Rank& rank);

}  // namespace loaderscope::model
