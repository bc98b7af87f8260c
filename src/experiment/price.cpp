#include <algorithm>
#include <array>

#include "engine/pipeline/plan.h"
#include "experiment/settings.h"

namespace loaderscope {

Price price_of(const RunConfig& config) {
  const Plan plan(config);
  Price price;
  price.workers = plan.made_by_trainer ? 0 : config.num_workers * config.ranks;
  price.slots = plan.host_bytes() * plan.ranks;
  price.memory = config.memory == MemoryMode::pageable ? 0 : 1;
  return price;
}

bool has_price(const Axis& axis) {
  constexpr std::array<std::string_view, 6> kPriced = {
      "num-workers", "prefetch-factor", "window", "memory", "pin-memory", "in-flight"};
  return std::find(kPriced.begin(), kPriced.end(), axis.key) != kPriced.end();
}

}  // namespace loaderscope
