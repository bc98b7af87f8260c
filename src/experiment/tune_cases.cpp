// The cases of a tune: the settings that the user has now, the groups that one model can predict,
// the cases that would not fit, and the time of all of them.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/settings.h"
#include "experiment/tuner_parts.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

bool is_predictable(const Change& change) {
  const Field* field = find_field(change.key);
  return change.key.ends_with(".speed") ||
         (field != nullptr && field->is_about(about::kPredictable));
}

constexpr double kGrowth = 1.2;  // allowance for the growth of a worker after a short run

std::string shown(Bytes bytes) { return format_size(static_cast<double>(bytes)); }

// Declared samples are not written; a driver locks memory itself.
bool locks_memory(const RunConfig& config) {
  return is_native_engine(config.engine.value) && config.has_data() &&
         device_kind(config.trainer.device.value) != DeviceKind::gpu &&
         config.loader.memory != MemoryMode::pageable;
}

std::string beyond(const std::string& what, Bytes needed, Bytes limit, const std::string& whose) {
  if (needed <= limit) return "";
  return fmt::format("{} {}, more than the {} {}", what, shown(needed), shown(limit), whose);
}

// Returns the expected ns of a step; 0 if unknown.
double estimated_step(const Case& one, const CaseEstimator& belief, std::size_t i) {
  if (!belief.knows(i)) return 0;
  return 1e9 * static_cast<double>(one.config.loader.batch_size * one.config.trainer.ranks) /
         belief.rate(i);
}

// One run, in ns: its start, its warm-up and its window.
double time_of_run(const Case& one, double step, Nanos start, Nanos length) {
  const double warmup = step * static_cast<double>(warmup_steps(one.config));
  const double window = std::max(static_cast<double>(length - start),
                                 step * static_cast<double>(fewest_steps(one.config)));
  return static_cast<double>(start) + warmup + window;
}

}  // namespace

std::size_t add_present(Tune& tune, const MachineLimits& limits) {
  Experiment base = plan_experiment(tune.experiment.base, {}, false, limits);
  tune.experiment.cases.push_back(std::move(base.cases.front()));
  tune.candidates.emplace_back();
  return tune.candidates.size() - 1;
}

std::optional<std::size_t> like_present(const Tune& tune, std::size_t present) {
  const Experiment& experiment = tune.experiment;
  const auto is_like_it = [&](const Case& one) {
    return std::all_of(experiment.axes.begin(), experiment.axes.end(), [&](const Axis& axis) {
      return setting_text(one, axis.key) == setting_text(experiment.cases[present], axis.key);
    });
  };
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    if (i != present && is_possible(tune, i) && is_like_it(experiment.cases[i])) return i;
  }
  return std::nullopt;
}

Changes predictable(const Changes& changes) {
  Changes result;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(result), is_predictable);
  return result;
}

std::vector<std::size_t> predictable_groups(const std::vector<Case>& cases) {
  std::vector<Changes> known;
  std::vector<std::size_t> strata;
  for (const Case& one : cases) {
    Changes rest;
    std::copy_if(one.changes.begin(), one.changes.end(), std::back_inserter(rest),
                 [](const Change& change) { return !is_predictable(change); });
    const auto place = std::find(known.begin(), known.end(), rest);
    strata.push_back(static_cast<std::size_t>(place - known.begin()));
    if (place == known.end()) known.push_back(std::move(rest));
  }
  return strata;
}

Bytes estimate_private_bytes(const Case& one, Bytes resident_before) {
  if (one.runs.empty() || one.config.loader.num_workers <= 0) return 0;
  const CaseRun& run = one.runs.back();
  if (run.worker_bytes > 0) return run.worker_bytes;
  const Bytes rest = run.resident - resident_before - run.slots;
  return std::max<Bytes>(0, rest) / (one.config.loader.num_workers * one.config.trainer.ranks);
}

std::string reason_not_to_run(const RunConfig& config, const TuneOptions& options,
                              Bytes private_bytes) {
  if (options.max_workers && config.loader.num_workers > *options.max_workers)
    return fmt::format("more workers than --max-workers {}", *options.max_workers);
  if (is_model_engine(config.engine.value) && !options.max_memory) return "";
  const Price price = case_price(config);
  const auto all_worker_bytes = static_cast<Bytes>(kGrowth * static_cast<double>(private_bytes) *
                                                   static_cast<double>(price.workers));
  const Bytes needed = price.slots + all_worker_bytes;
  const std::string what = fmt::format("slots{} take", all_worker_bytes > 0 ? " and workers" : "");
  if (options.max_memory) {
    const std::string reason = beyond(what, needed, *options.max_memory, "of --max-memory");
    if (!reason.empty()) return reason;
  }
  if (options.lockable && locks_memory(config)) {
    // A pin thread copies from ordinary slots into as many that are locked.
    const Bytes locked =
        config.loader.memory == MemoryMode::pin_thread ? price.slots / 2 : price.slots;
    const std::string reason =
        beyond("page-locked slots take", locked, *options.lockable, "that ulimit -l allows");
    if (!reason.empty()) return reason;
  }
  if (options.free_shared && config.loader.executor == Executor::processes) {
    const std::string reason =
        beyond("slots take", price.slots, *options.free_shared, "free in /dev/shm");
    if (!reason.empty()) return reason;
  }
  return options.free_memory ? beyond(what, needed, *options.free_memory, "of memory that are free")
                             : "";
}

Nanos time_of_grid(const Tune& tune, const CaseEstimator& belief, const CaseRunner& runner,
                   Nanos length) {
  double time = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (!is_possible(tune, i)) continue;
    const Case& one = tune.experiment.cases[i];
    const bool is_known = !one.runs.empty() && length == runner.length();
    time +=
        2 * (is_known ? static_cast<double>(one.runs.back().took)
                      : time_of_run(one, estimated_step(one, belief, i), runner.start(), length));
  }
  return static_cast<Nanos>(std::min(time, 9e18));
}

}  // namespace loaderscope
