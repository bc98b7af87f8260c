#include "engine/native/memory_need.h"

#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

std::string text_of(Bytes bytes) { return show_size(static_cast<double>(bytes)); }

std::string batches_of(const Plan& plan) {
  const std::int64_t batches = (plan.pin_thread ? 2 : 1) * plan.slots();
  std::string text = std::to_string(batches) + " batches of " +
                     text_of(plan.delivered_bytes(plan.config.loader.batch_size));
  if (plan.ranks > 1) text += " for each of " + std::to_string(plan.ranks) + " ranks";
  return text;
}

std::string and_read_ahead(const Plan& plan, Bytes read_ahead) {
  if (read_ahead == 0) return "";
  return " and what " + std::to_string(plan.workers * plan.ranks) + " workers read ahead, " +
         text_of(read_ahead) + " each,";
}

}  // namespace

Bytes memory_needed(const Plan& plan, Bytes read_ahead) {
  const bool staged = plan.has_device && plan.copy_keeps_trainer;
  const Bytes staging = staged ? plan.delivered_bytes(plan.config.loader.batch_size) : 0;
  return (plan.host_bytes() + staging + plan.workers * read_ahead) * plan.ranks;
}

void check_fit(const Plan& plan, std::optional<Bytes> free, Bytes read_ahead) {
  const Bytes needed = memory_needed(plan, read_ahead);
  if (!free || needed <= *free) return;
  throw RunError(
      "host memory: " + batches_of(plan) + and_read_ahead(plan, read_ahead) + " take " +
      text_of(needed) + " and " + text_of(*free) +
      " are free; give a smaller --batch-size, fewer " +
      (plan.ranks > 1 ? "--ranks or --num-workers" : "--num-workers") +
      (plan.sample_tasks ? ", or a smaller --window" : ", or a smaller --prefetch-factor"));
}

}  // namespace loaderscope::native
