// Gains of a finding that no setting fixes.
#pragma once

#include "loaderscope/predict.h"

namespace loaderscope {

// Adds the rate of the job if its slow part were as fast as the others, also to the advice. Adds
// nothing if that is hardly more.
void add_figures(Finding& finding, const Analysis& of_job, const Prediction& as_the_others);

}  // namespace loaderscope
