// Somebody else's loader, as the model knows loaders.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope::model {

// What was seen of it, as the settings of one of ours.
RunConfig as_our_loader(const RunRecord& seen);

}  // namespace loaderscope::model
