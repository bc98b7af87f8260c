#include "engine/native/memory_need.h"

#include <algorithm>
#include <bit>

#include "base/arithmetic.h"
#include "engine/native/rank_share.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

constexpr Bytes kLogs = Bytes{64} << 20;  // limit for all threads
constexpr std::size_t kMinEntries = 1 << 10, kMaxEntries = 1 << 15;

std::string size_text(Bytes bytes) { return format_size(static_cast<double>(bytes)); }

std::string for_each_rank(const LoaderPlan& plan) {
  return plan.ranks > 1 ? " for each of " + std::to_string(plan.ranks) + " ranks" : "";
}

std::string batches_text(const LoaderPlan& plan) {
  const std::int64_t batches = (plan.pin_thread ? 2 : 1) * plan.slots();
  return std::to_string(batches) + " batches of " + size_text(plan.layout.slot_bytes) +
         for_each_rank(plan);
}

std::string and_read_ahead(const LoaderPlan& plan, Bytes read_ahead) {
  if (read_ahead == 0) return "";
  return " and what " + std::to_string(plan.workers * plan.ranks) + " workers read ahead, " +
         size_text(read_ahead) + " each,";
}

[[noreturn]] void refuse(const LoaderPlan& plan, const std::string& what_takes, Bytes needed,
                         Bytes free, const char* or_else = "") {
  throw RunError("host memory: " + what_takes + " " + size_text(needed) + " and " +
                     size_text(free) + " are free",
                 std::string("give a smaller --batch-size, fewer ") +
                     (plan.ranks > 1 ? "--ranks or --num-workers" : "--num-workers") +
                     (plan.sample_tasks ? ", or a smaller --prefetch-depth"
                                        : ", or a smaller --prefetch-factor") +
                     or_else);
}

}  // namespace

bool has_feeders(const LoaderPlan& plan) {
  return !plan.made_by_trainer &&
         (plan.send.active() || plan.config.loader.executor == Executor::processes);
}

std::int64_t threads_with_log(const LoaderPlan& plan) {
  const std::int64_t threads_per_worker = has_feeders(plan) ? 2 : 1;
  const std::int64_t others = (plan.pin_thread ? 1 : 0) + (plan.on_device.makes() ? 1 : 0);
  return plan.ranks * (plan.workers * threads_per_worker + others);
}

std::size_t log_entries(const LoaderPlan& plan) {
  const auto share =
      static_cast<std::size_t>(kLogs / threads_with_log(plan)) / sizeof(ThreadLog::Entry);
  return std::bit_floor(std::clamp(share, kMinEntries, kMaxEntries));
}

Bytes memory_needed(const LoaderPlan& plan, Bytes read_ahead) {
  const Bytes batch = plan.layout.slot_bytes;
  const bool staged = plan.has_device && plan.link.copy_keeps_trainer;
  const std::int64_t batches = (plan.pin_thread ? 2 : 1) * plan.slots() + (staged ? 1 : 0);
  const Bytes rank_bytes =
      saturated_sum(saturated_product(batches, batch), saturated_product(plan.workers, read_ahead));
  return saturated_product(rank_bytes, plan.ranks);
}

Bytes account_needed(const LoaderPlan& plan) {
  constexpr Bytes kSample = sizeof(std::int64_t);
  constexpr Bytes kQueued = sizeof(Batch*) + sizeof(Finished);  // a worker's two queues
  const Bytes batch =
      saturated_sum(sizeof(Batch), saturated_product(plan.config.loader.batch_size.value, kSample));
  const Bytes queues =
      saturated_product(saturated_product(plan.workers, plan.prefetch_depth), kQueued);
  const Bytes rank_bytes = saturated_sum(saturated_product(plan.slots(), batch), queues);
  const auto log = static_cast<Bytes>(log_entries(plan) * sizeof(ThreadLog::Entry));
  return saturated_sum(saturated_product(rank_bytes, plan.ranks),
                       saturated_product(threads_with_log(plan), log));
}

void check_fit(const LoaderPlan& plan, std::optional<Bytes> free, Bytes read_ahead) {
  const Bytes account = account_needed(plan);
  const Bytes needed = saturated_sum(memory_needed(plan, read_ahead), account);
  if (!free || needed <= *free) return;
  refuse(plan,
         batches_text(plan) + and_read_ahead(plan, read_ahead) + " and the account of them, " +
             size_text(account) + ", take",
         needed, *free, read_ahead > 0 ? ", or have them read less ahead" : "");
}

void check_account_fits(const LoaderPlan& plan, std::optional<Bytes> free) {
  const Bytes needed = account_needed(plan);
  if (!free || needed <= *free) return;
  refuse(plan,
         "the account of " + std::to_string(plan.slots()) + " batches of " +
             plural(plan.config.loader.batch_size.value, "sample") + for_each_rank(plan) + " takes",
         needed, *free);
}

std::int64_t threads_needed(const LoaderPlan& plan) {
  return threads_with_log(plan) + (plan.made_by_trainer ? 0 : plan.ranks);
}

void check_threads(const LoaderPlan& plan, const std::optional<ThreadLimit>& limit) {
  const std::int64_t needed = threads_needed(plan);
  if (!limit || needed <= limit->threads) return;
  throw RunError(
      "threads: " + (plan.ranks > 1 ? std::to_string(plan.ranks) + " ranks with " : std::string()) +
          plural(plan.made_by_trainer ? 0 : plan.workers, "worker") +
          (plan.ranks > 1 ? " each" : "") + " need " + std::to_string(needed) + " and " +
          std::to_string(limit->threads) + " may run here",
      std::string("give fewer ") + (plan.ranks > 1 ? "--ranks or --num-workers" : "--num-workers") +
          ", or raise " + limit->set_by);
}

}  // namespace loaderscope::native
