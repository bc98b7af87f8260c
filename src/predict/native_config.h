// Somebody else's loader, as the model knows loaders.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope::model {

// What was seen of it, as the settings of one of ours.
RunConfig to_native_config(const RunRecord& seen);

}  // namespace loaderscope::model
