// Somebody else's loader, as the model knows loaders.
#pragma once

#include "loaderscope/run_config.h"

namespace loaderscope::model {

// What was seen of it, as the settings of one of ours.
RunConfig as_our_loader(const RunConfig& seen);

}  // namespace loaderscope::model
