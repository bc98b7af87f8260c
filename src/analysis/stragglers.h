// The ranks of a job that the others wait for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Returns the ranks that wait far less for other ranks than the rest. Returns none in three cases:
// hardly any rank waits, no gap separates them from the rest, or they are more than half of the
// ranks. Ranks without a measured step are left out.
std::vector<std::size_t> stragglers(const std::vector<Account>& ranks);

// Returns the ranks that are about as slow as the slowest, for ranks that do not wait for each
// other. Returns none if they are more than half of the ranks.
std::vector<std::size_t> slowest_ranks(const std::vector<double>& samples_per_s);

inline constexpr std::string_view kStragglerRank = "straggler-rank";  // name of the finding

// "rank 1", "ranks 1 and 2", "ranks 1, 2, 3 and 5 more"
std::string describe_ranks(const std::vector<std::size_t>& ranks);

}  // namespace loaderscope
