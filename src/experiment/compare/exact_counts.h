// Counts that runs repeat exactly.
#pragma once

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

// Fills the counts that both runs of an arm in a block have alike, and names the others.
void compare_counts(ComparisonResult& judgement, const Comparison& comparison);

}  // namespace loaderscope::compare
