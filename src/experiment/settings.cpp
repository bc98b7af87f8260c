// The cases of an experiment, ready to be run.
#include "experiment/settings.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/pipeline/loader_plan.h"
#include "experiment/axes.h"
#include "loaderscope/errors.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

// Unsets settings that need workers in a case without workers.
RunConfig without_workers(RunConfig base) {
  for (const Field& field : fields()) {
    if (field.is_about(about::kNeedsWorkers)) field.mark_given(base, false);
  }
  return base;
}

bool takes_workers_away(const Changes& changes) {
  return std::find(changes.begin(), changes.end(), Change{"num-workers", "0"}) != changes.end();
}

}  // namespace

RunConfig configure(const RunConfig& base, const Changes& changes, const MachineLimits& limits) {
  RunConfig config =
      with_changes(takes_workers_away(changes) ? without_workers(base) : base, changes);
  for (const Change& change : changes) {
    const std::optional<Speedup> speedup = find_speedup(change);
    if (speedup && !make_faster(config, *speedup)) {
      throw UsageError(change.key + ": the stage is not declared",
                       "declare it with --cost, or predict the change with what-if");
    }
  }
  std::vector<std::string> notes;
  return resolve(std::move(config), limits, notes);
}

void adopt_loader(Experiment& experiment, const RunConfig& measured, const Changes& changes) {
  for (Case& one : experiment.cases) {
    RunConfig& config = one.config;
    if (!is_guest_engine(config.engine.value)) return;
    const auto take = [&](std::string_view key, auto& setting, const auto& measured_setting) {
      const bool is_made = !key.empty() && one.changes != changes && change_setting(changes, key);
      if (!setting.given && !is_made) setting.value = measured_setting.value;
    };
    take("num-workers", config.loader.num_workers, measured.loader.num_workers);
    take("batch-size", config.loader.batch_size, measured.loader.batch_size);
    take("", config.data.samples, measured.data.samples);
    take("", config.data.delivered_bytes, measured.data.delivered_bytes);
    take("in-order", config.loader.in_order, measured.loader.in_order);
    take("drop-last", config.loader.drop_last, measured.loader.drop_last);
    take("persistent-workers", config.loader.persistent_workers,
         measured.loader.persistent_workers);
    take("", config.trainer.ranks, measured.trainer.ranks);
    if (!config.loader.pin_memory.given)
      take("pin-memory", config.loader.memory, measured.loader.memory);
    if (measured.loader.num_workers > 0)
      take("prefetch-factor", config.loader.prefetch_factor, measured.loader.prefetch_factor);
    config.loader.executor.value =
        config.loader.num_workers > 0 ? Executor::processes : Executor::inline_;
  }
}

std::string setting_text(const Case& one, const std::string& key) {
  for (const Change& change : one.changes) {
    if (change.key == key) return change.value;
  }
  const bool is_depth = key == "prefetch-factor" || key == "prefetch-depth";
  if (is_depth && one.config.loader.executor == Executor::inline_) return "-";
  const Field* field = find_field(key);
  return field == nullptr ? "1" : field->text(one.config);
}

Experiment plan_experiment(const RunConfig& base, const Axes& axes, bool one_at_a_time_only,
                           const MachineLimits& limits) {
  Experiment experiment;
  experiment.base = base;
  experiment.axes = axes;
  experiment.one_at_a_time = one_at_a_time_only;
  std::set<std::string> refused;  // reasons of refusals; "": a case was accepted
  for (Changes& changes : one_at_a_time_only ? one_at_a_time(axes, base) : grid(axes, base)) {
    Case one;
    one.changes = std::move(changes);
    try {
      one.config = configure(base, one.changes, limits);
      refused.insert("");
    } catch (const UsageError& error) {
      one.skipped = error.what();
      refused.insert(one.skipped);
    } catch (const RunError& error) {
      one.skipped = error.what();
      refused.insert("");
    }
    experiment.cases.push_back(std::move(one));
  }
  // An error that all cases share comes from the settings that they share.
  if (refused.size() == 1 && !refused.contains("")) throw UsageError(*refused.begin());
  return experiment;
}

std::string reason_for_nothing(const Experiment& experiment,
                               const std::vector<std::string>& others) {
  constexpr const char* kInterrupted = "interrupted before a run had enough steps";
  std::map<std::string, std::int64_t> reasons;
  for (const std::string& reason : others) ++reasons[reason];
  for (const Case& one : experiment.cases) {
    if (!one.runs.empty()) return "";
    if (!one.skipped.empty()) ++reasons[one.skipped];
  }
  const auto commonest =
      std::max_element(reasons.begin(), reasons.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (commonest == reasons.end()) return experiment.interrupted ? kInterrupted : "nothing was run";
  return commonest->first;
}

Price case_price(const RunConfig& config) {
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
