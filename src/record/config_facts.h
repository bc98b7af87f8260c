// Facts that follow from the settings of a record.
#pragma once

#include <algorithm>
#include <cstdint>

#include "loaderscope/run_config.h"

namespace loaderscope {

// Returns the batches of one rank that are in flight when the loader is as far ahead as allowed.
// The settings are those in force. Impossible values of a saved result count as the nearest
// possible number.
inline std::int64_t batches_ahead(const RunConfig& config) {
  const auto sane = [](std::int64_t count) {
    return std::clamp<std::int64_t>(count, 0, std::int64_t{1} << 24);
  };
  if (config.loader.task == TaskShape::sample && config.loader.num_workers > 0)
    return sane(config.loader.prefetch_depth);
  return sane(config.loader.prefetch_factor) * sane(config.loader.num_workers);
}

// Returns true if the user's program or step function trains, and false if a device of ours does.
inline bool trains_itself(const RunConfig& config) {
  return config.program.command.given || config.program.train_step.given;
}

}  // namespace loaderscope
