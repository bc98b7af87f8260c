// What can be done about a loader that is not seen into.
#pragma once

#include <string>

#include "loaderscope/run_config.h"

namespace loaderscope::model {

// How other settings of it are measured, as a half-sentence for the end of a message.
std::string way_to_measure(const RunConfig& config);

}  // namespace loaderscope::model
