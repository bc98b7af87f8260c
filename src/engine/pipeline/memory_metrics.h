// Memory of a configuration, by the formula of the host slots.
#pragma once

#include <optional>
#include <vector>

#include "engine/pipeline/loader_plan.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// With `locked`, what of it was page-locked for real; otherwise what the memory mode says.
std::vector<Metric> memory_metrics(const LoaderPlan& plan,
                                   std::optional<Bytes> locked = std::nullopt);

// Metrics of a native run whose stages are all declared. Nothing is written, so no slot takes
// memory.
std::vector<Metric> unwritten_memory_metrics(const LoaderPlan& plan);

}  // namespace loaderscope
