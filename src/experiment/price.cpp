#include <algorithm>

#include "engine/pipeline/loader_plan.h"
#include "experiment/settings.h"

namespace loaderscope {

Price price_of(const RunConfig& config) {
  const LoaderPlan plan(config);
  Price price;
  price.workers = plan.made_by_trainer ? 0 : config.loader.num_workers * config.trainer.ranks;
  price.slots = plan.host_bytes() * plan.ranks;
  price.memory = config.loader.memory == MemoryMode::pageable ? 0 : 1;
  return price;
}

bool has_price(const Axis& axis) {
  const Field* field = find_field(axis.key);
  return field != nullptr && field->is_about(about::kPriced);
}

}  // namespace loaderscope
