// Refusal of results that the model cannot predict from.
#pragma once

#include <string_view>

#include "loaderscope/run_record.h"

namespace loaderscope::model {

// These throw RunError with an alternative.
void refuse_unpredictable(const RunRecord& record);
void refuse_trace(std::string_view engine);
void refuse_large_steps(const RunConfig& config);

}  // namespace loaderscope::model
