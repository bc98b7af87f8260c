// The account as parts of a bar.
#pragma once

#include <vector>

#include "loaderscope/analysis.h"
#include "page/charts.h"

namespace loaderscope {

// Compute and the causes that are not 0. `length`: of the whole bar.
std::vector<page::Part> account_parts(const Account& account, bool has_busy, double length);

}  // namespace loaderscope
