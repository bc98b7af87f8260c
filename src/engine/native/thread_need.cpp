#include "engine/native/thread_need.h"

#include "engine/native/memory_need.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {

std::int64_t threads_needed(const LoaderPlan& plan) {
  return threads_with_log(plan) + (plan.made_by_trainer ? 0 : plan.ranks);
}

void check_threads(const LoaderPlan& plan, const std::optional<ThreadLimit>& limit) {
  const std::int64_t needed = threads_needed(plan);
  if (!limit || needed <= limit->threads) return;
  throw RunError(
      "threads: " + (plan.ranks > 1 ? std::to_string(plan.ranks) + " ranks with " : std::string()) +
      plural(plan.made_by_trainer ? 0 : plan.workers, "worker") + (plan.ranks > 1 ? " each" : "") +
      " need " + std::to_string(needed) + " and " + std::to_string(limit->threads) +
      " may run here; give fewer " +
      (plan.ranks > 1 ? "--ranks or --num-workers" : "--num-workers") + ", or raise " +
      limit->set_by);
}

}  // namespace loaderscope::native
