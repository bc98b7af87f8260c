// Time that a run would save without one cause, from the record alone.
#pragma once

#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Limit of the verdict and of proofs: a smaller gain counts as none.
inline constexpr double kMinUsefulGain = 0.02;  // share of the window

RemovalGains removal_gains(const RunRecord& record, const Account& account);
void sort_by_saving(std::vector<Removal>& list);  // largest first

}  // namespace loaderscope
