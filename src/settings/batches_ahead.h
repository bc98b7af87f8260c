// How far ahead of the trainer batches are made.
#pragma once

#include <cstdint>

#include "loaderscope/settings.h"

namespace loaderscope {

// Batches of one rank that are dispatched and not yet taken when the window is full. The settings
// are those in force, which of a result need not be sane.
std::int64_t batches_ahead(const RunConfig& config);

}  // namespace loaderscope
