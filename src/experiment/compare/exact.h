// What runs repeat exactly: counts, and what the stages are called in the measured program.
#pragma once

#include <string>
#include <vector>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

// Fills the counts that both runs of an arm in a block have alike, and names the others.
void compare_counts(Judgement& judgement, const Comparison& comparison);

// "augment RandomErasing": what all runs of one arm have and no run of the other.
std::vector<std::string> names_only_in(const Comparison& comparison, std::int64_t arm);

}  // namespace loaderscope::compare
