// How long the plain grid takes that a tune replaces.
#pragma once

#include "experiment/belief.h"
#include "experiment/case_run.h"

namespace loaderscope {

// Two runs of each case that can run: each of `length`, or longer where its fewest steps are, as
// far as it is known how long they take.
Nanos time_of_grid(const Tune& tune, const Belief& belief, const CaseRunner& runner, Nanos length);

}  // namespace loaderscope
