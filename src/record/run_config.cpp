#include "loaderscope/run_config.h"

#include <algorithm>
#include <cmath>

namespace loaderscope {

const Cost* RunConfig::declared_cost(Stage stage) const {
  for (const Cost& cost : declared.cost.value) {
    if (cost.stage == stage) return &cost;
  }
  return nullptr;
}

std::int64_t RunConfig::delivered_sample_bytes() const {
  if (data.delivered_bytes != 0) return data.delivered_bytes;
  const std::int64_t value_bytes = image.transfer == Transfer::u8    ? 1
                                   : image.transfer == Transfer::f16 ? 2
                                                                     : 4;
  return 3 * image.size * image.size * value_bytes;
}

Nanos RunConfig::mean_compute_time() const {
  const Compute& step_compute = trainer.compute;
  const double batches = step_compute.per_batch == 0
                             ? 1
                             : static_cast<double>(loader.batch_size.value) /
                                   static_cast<double>(step_compute.per_batch);
  return std::llround(std::min(step_compute.mean * batches, static_cast<double>(kMaxCost)));
}

std::string changes_to_text(const Changes& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += (text.empty() ? "" : " ") + change.key + "=" + change.value;
  }
  return text;
}

}  // namespace loaderscope
