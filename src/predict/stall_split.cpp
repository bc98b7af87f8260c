#include "predict/stall_split.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/pipeline/loader_plan.h"
#include "predict/search_fix.h"

namespace loaderscope::model {
namespace {

constexpr double kNearlyAll = 0.999;          // share of the steps
constexpr double kNoticeableCapacity = 0.01;  // share of the window
constexpr std::int64_t kSteps = 1000;         // steps of a trial; one may be late
constexpr std::int64_t kMinSteps = 100;
constexpr std::int64_t kSamples = 100'000;  // samples of all ranks in one trial
constexpr std::int64_t kMaxDepth = 64;      // batches per worker
// Number of full prefetch depths in the steps of a trial. The batches made before the steps must
// not carry them.
constexpr std::int64_t kWindows = 4;

double share(Nanos part, const Account& account) {
  return account.window > 0 ? static_cast<double>(part) / static_cast<double>(account.window) : 0;
}

Bytes memory_with(const RunConfig& base, std::string_view setting, std::int64_t depth) {
  RunConfig config = base;
  (setting == "prefetch-depth" ? config.loader.prefetch_depth : config.loader.prefetch_factor)
      .value = depth;
  const LoaderPlan plan(config);
  return plan.host_bytes() * plan.ranks;
}

}  // namespace

std::optional<StallSplit> starved(const Account& measured, const Prediction& base,
                                  const Prediction& at_means) {
  const double all = share(base.account.idle(), base.account);
  if (!base.has_busy() || all <= 0) return std::nullopt;
  // Returns the stall per step, as a longer stall makes the window longer.
  const auto per_compute = [](const Account& account) {
    return static_cast<double>(account.idle()) / static_cast<double>(account.compute);
  };
  const double left = std::min(1.0, per_compute(at_means.account) / per_compute(base.account));
  StallSplit result;
  result.from_capacity = std::llround(left * static_cast<double>(measured.idle()));
  result.from_variation = measured.idle() - result.from_capacity;
  return result;
}

std::optional<RequiredPrefetchDepth> ready_depth(const FittedModel& model, const Prediction& base,
                                                 const Prediction& at_means) {
  const RunConfig& config = base.config;
  const std::int64_t steps = std::min(
      kSteps,
      kSamples / std::max<std::int64_t>(1, config.loader.batch_size * config.trainer.ranks));
  if (!base.has_busy() || config.loader.num_workers == 0 || steps < kMinSteps) return std::nullopt;

  const bool shares_samples = config.loader.task == TaskShape::sample;
  RequiredPrefetchDepth depth;
  depth.setting = shares_samples ? "prefetch-depth" : "prefetch-factor";
  depth.steps = steps;
  const std::int64_t per_depth = shares_samples ? 1 : config.loader.num_workers.value;
  const std::int64_t now =
      shares_samples ? config.loader.prefetch_depth.value : config.loader.prefetch_factor.value;
  const std::int64_t deepest = kMaxDepth * (shares_samples ? config.loader.num_workers.value : 1);
  const std::int64_t most = std::min(deepest, steps / (kWindows * per_depth));
  depth.ready_now = base.ready;
  const bool is_ready = base.ready >= kNearlyAll;
  // No prefetch depth helps workers that are too slow on average.
  const bool hopeless = !is_ready && share(at_means.account.why[Why::capacity], at_means.account) >=
                                         kNoticeableCapacity;
  const auto is_enough = [&](std::int64_t n) {
    return model.predict_steps({{depth.setting, std::to_string(n)}}, steps).ready >= kNearlyAll;
  };
  if (!hopeless) depth.enough = smallest_sufficient({0, now, most}, is_enough);
  // Trials may be too short for the present depth, which is known to suffice.
  if (is_ready) depth.enough = std::min(depth.enough.value_or(now), now);
  if (depth.enough) depth.memory = memory_with(config, depth.setting, *depth.enough);
  return depth;
}

}  // namespace loaderscope::model
