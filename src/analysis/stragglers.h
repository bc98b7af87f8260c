// The ranks of a job that the others wait for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Those that wait for ranks far less than any other does; of several that are as slow all. None
// where hardly anybody waits, where no gap parts them from the others, and where they are more than
// half: what most ranks have is not what holds up one. Ranks without a measured step are left out.
std::vector<std::size_t> stragglers(const std::vector<Account>& ranks);

// Where ranks do not wait for each other, those whose rate is far below that of the others: none on
// the same terms.
std::vector<std::size_t> slowest_ranks(const std::vector<double>& samples_per_s);

inline constexpr std::string_view kStragglerRank = "straggler-rank";  // the finding

// "rank 1", "ranks 1 and 2", "ranks 1, 2, 3 and 5 more"
std::string words_of_ranks(const std::vector<std::size_t>& ranks);

}  // namespace loaderscope
