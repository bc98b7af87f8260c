// Amount of each resource that keeps the GPU busy, one resource at a time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <string>

#include "analysis/wording.h"
#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "predict/search_fix.h"

namespace loaderscope {
namespace {

constexpr double kBusyEnough = 0.95;
constexpr std::int64_t kMaxThreads = 1024;  // workers of all ranks
constexpr double kSlack = 0.05;             // share of a count; exact cores do not matter
constexpr double kOneFaster = 1.1;          // speeds are looked for in powers of this
constexpr std::int64_t kMaxPowers = 60;     // some 300 times as fast

// A resource to search for, and the changes that set an amount of it.
struct Thing {
  std::string what;
  Bounds bounds;
  std::function<Changes(std::int64_t)> changes;
};

// Returns nothing if the model cannot predict the needed amount.
std::optional<TargetOption> least(const Thing& thing, const Predictor& predict) {
  const auto with = [&](std::int64_t amount) -> std::optional<Prediction> {
    try {
      return predict(thing.changes(amount));
    } catch (const UsageError&) {
      return std::nullopt;  // contradicts the other settings
    }
  };
  const auto is_enough = [&](std::int64_t amount) {
    const std::optional<Prediction> changed = with(amount);
    return changed && changed->busy() >= kBusyEnough;
  };
  TargetOption needed;
  needed.what = thing.what;
  const std::optional<std::int64_t> amount = smallest_sufficient(thing.bounds, is_enough);
  if (!amount) return needed;
  const std::optional<Prediction> enough = with(*amount);
  if (!enough->is_known()) return std::nullopt;
  needed.changes = thing.changes(*amount);
  needed.busy_after = enough->busy();
  return needed;
}

std::int64_t most_workers(const RunConfig& config) {
  return kMaxThreads / std::max<std::int64_t>(1, config.trainer.ranks);
}

Thing thing_of_workers(const RunConfig& config) {
  const std::int64_t present = config.loader.num_workers;
  return {"num-workers",
          {present, std::max<std::int64_t>(1, 2 * present), most_workers(config)},
          [](std::int64_t n) {
            return Changes{{"num-workers", std::to_string(n)}};
          }};
}

// Returns the search for a number of cores, with at least one worker per core.
Thing thing_of_cores(const RunConfig& config) {
  const auto present = static_cast<std::int64_t>(config.declared.cores.value);
  const std::int64_t ranks = std::max<std::int64_t>(1, config.trainer.ranks);
  const std::int64_t workers = config.loader.num_workers;
  return {
      "cores",
      {present, std::max<std::int64_t>(1, 2 * present), kMaxThreads, kSlack},
      [=](std::int64_t n) {
        const std::int64_t rank_workers = std::max(workers, (n + ranks - 1) / ranks);
        return Changes{{"cores", std::to_string(n)}, {"num-workers", std::to_string(rank_workers)}};
      }};
}

double power(std::int64_t exponent) { return std::pow(kOneFaster, static_cast<double>(exponent)); }

Thing thing_of_speed(Stage stage) {
  const std::string key = std::string(name_of(stage)) + ".speed";
  return {key, {0, 1, kMaxPowers}, [key](std::int64_t exponent) {
            return Changes{{key, fmt::format("{:.3g}", power(exponent))}};
          }};
}

Thing thing_of_latency(const RunConfig& config) {
  const auto present = static_cast<double>(config.declared.storage_latency.value);
  return {"storage-latency", {0, 1, kMaxPowers}, [present](std::int64_t exponent) {
            const auto latency = std::llround(present / power(exponent));
            return Changes{{"storage-latency", roughly_to_text(latency)}};
          }};
}

// Returns the stages of workers that the trainer waits for, longest wait first.
std::vector<Thing> things_of_stages(const Analysis& analysis, const RunConfig& config) {
  constexpr std::array<std::pair<Cause, Stage>, 4> kStages = {{{Cause::read, Stage::read},
                                                               {Cause::decode, Stage::decode},
                                                               {Cause::augment, Stage::augment},
                                                               {Cause::collate, Stage::collate}}};
  const Account& account = analysis.account;
  std::vector<std::pair<Nanos, Stage>> waits;
  for (const auto& [cause, stage] : kStages) {
    const Nanos stall = account.stall[cause];
    if (static_cast<double>(stall) >= kMinReportedShare * static_cast<double>(account.window))
      waits.emplace_back(stall, stage);
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Thing> things;
  for (const auto& [stall, stage] : waits) {
    const bool is_latency = stage == Stage::read && config.declared.storage_latency > 0;
    things.push_back(is_latency ? thing_of_latency(config) : thing_of_speed(stage));
  }
  return things;
}

// Cores are asked for only where workers on those that there are do not do.
void add_workers_or_cores(const RunConfig& config, const Predictor& predict,
                          std::vector<TargetOption>& ways) {
  const std::optional<TargetOption> workers = least(thing_of_workers(config), predict);
  if (!workers) return;
  ways.push_back(*workers);
  if (!workers->changes.empty()) return;
  if (const auto cores = least(thing_of_cores(config), predict)) ways.push_back(*cores);
}

}  // namespace

std::optional<TargetOptions> what_it_takes(const Analysis& analysis, const Prediction& base,
                                           const Predictor& predict) {
  if (!base.has_busy() || base.busy() >= kBusyEnough) return std::nullopt;
  const std::vector<Thing> stages = things_of_stages(analysis, base.config);
  if (stages.empty()) return std::nullopt;
  std::vector<std::future<std::optional<TargetOption>>> speeds;
  for (const Thing& stage : stages) {
    speeds.push_back(std::async(std::launch::async, [&] { return least(stage, predict); }));
  }
  TargetOptions result;
  result.busy = kBusyEnough;
  add_workers_or_cores(base.config, predict, result.ways);
  for (auto& speed : speeds) {
    if (const std::optional<TargetOption> way = speed.get()) result.ways.push_back(*way);
  }
  if (result.ways.empty()) return std::nullopt;
  return result;
}

}  // namespace loaderscope
