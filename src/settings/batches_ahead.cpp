#include "settings/batches_ahead.h"

#include <algorithm>

namespace loaderscope {
namespace {

std::int64_t sane(std::int64_t count) {
  return std::clamp<std::int64_t>(count, 0, std::int64_t{1} << 24);
}

}  // namespace

std::int64_t batches_ahead(const RunConfig& config) {
  if (config.loader.task == TaskShape::sample && config.loader.num_workers > 0)
    return sane(config.loader.prefetch_depth);
  return sane(config.loader.prefetch_factor) * sane(config.loader.num_workers);
}

}  // namespace loaderscope
