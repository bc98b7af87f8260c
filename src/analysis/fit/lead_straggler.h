// A rank that the others wait for is the subject of the answer.
#pragma once

#include <vector>

#include "analysis/fit/fitted_model.h"
#include "loaderscope/findings.h"

namespace loaderscope {

// Puts the finding of such a rank first, with what the job would give were it like the others,
// where `model` is there to say so. The other findings are of that rank, or of the slowest one, and
// say so.
void lead_with_straggler(const RunRecord& record, const Analysis& analysis,
                         const FittedModel* model, std::vector<Finding>& findings);

}  // namespace loaderscope
