// Figures of a finding that no setting mends.
#pragma once

#include "loaderscope/predict.h"

namespace loaderscope {

// Adds what the job would give were the slow part of it as fast as the others, in the words of its
// advice too. Nothing where that is hardly more.
void add_figures(Finding& finding, const Analysis& of_job, const Prediction& as_the_others);

}  // namespace loaderscope
