// Another program's loader in the terms of the model.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope::model {

// Returns the observed settings of the loader as settings of a native loader.
RunConfig to_native_config(const RunRecord& seen);

}  // namespace loaderscope::model
