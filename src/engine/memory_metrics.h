// What a configuration holds in memory, by the formula of the host slots.
#pragma once

#include <vector>

#include "engine/plan.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

std::vector<Metric> memory_metrics(const Plan& plan);

}  // namespace loaderscope
