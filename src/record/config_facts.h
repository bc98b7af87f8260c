// Facts that follow from the settings of a record alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "loaderscope/run_config.h"

namespace loaderscope {

// Batches of one rank that are dispatched and not yet taken when the loader is as far ahead as it
// may be. The settings are those in force. A saved result may have senseless ones, which count as
// the nearest number that makes sense.
inline std::int64_t batches_ahead(const RunConfig& config) {
  const auto sane = [](std::int64_t count) {
    return std::clamp<std::int64_t>(count, 0, std::int64_t{1} << 24);
  };
  if (config.loader.task == TaskShape::sample && config.loader.num_workers > 0)
    return sane(config.loader.prefetch_depth);
  return sane(config.loader.prefetch_factor) * sane(config.loader.num_workers);
}

// True if the user's program, or his step, trains with the batches; false if a device of ours does.
inline bool trains_itself(const RunConfig& config) {
  return config.program.command.given || config.program.train_step.given;
}

}  // namespace loaderscope
