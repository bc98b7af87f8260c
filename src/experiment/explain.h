// What stands behind the answer of a tune: its limit, what would move it, how sure the model is,
// how the answer changes with the compute, and what it is without the other programs.
#pragma once

#include <map>

#include "experiment/belief.h"
#include "experiment/tune.h"

namespace loaderscope {

// `forecasters` by stratum, `records` by case.
void explain(Tune& tune, const Belief& belief, const std::map<std::size_t, Forecaster>& forecasters,
             const std::map<std::size_t, RunRecord>& records);

}  // namespace loaderscope
