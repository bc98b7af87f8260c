// Which cases one model can tell apart.
#pragma once

#include "loaderscope/experiment.h"

namespace loaderscope {

// The changes that a model fitted to one run can predict; the others need a run of their own.
Changes predictable(const Changes& changes);
// One number per case: the same where only predictable changes differ.
std::vector<std::size_t> strata_of(const std::vector<Case>& cases);

}  // namespace loaderscope
