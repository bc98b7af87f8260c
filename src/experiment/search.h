// What a tune runs next.
#pragma once

#include <vector>

#include "experiment/belief.h"

namespace loaderscope {

inline constexpr double kProven = 0.95;        // probability from which on a case is proven
inline constexpr std::size_t kFewestRuns = 2;  // of a case that is recommended

// The cases of the next round: the cheapest that is believed to reach the goal, with its
// neighbours, the best, and what was not ruled out as either. None when the answer stands.
std::vector<std::size_t> what_to_run(const Tune& tune, const Belief& belief);

}  // namespace loaderscope
