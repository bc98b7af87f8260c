// Axes of a tune: the default ones, and axes that grow while a larger value is expected to give
// more. Workers that wait need no core, so the number of cores does not say where such an axis
// should end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiment/settings.h"
#include "experiment/tune.h"
#include "experiment/tuner_parts.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// 0, 1, 2, 3, 4, 6, 8, 12, 16, ... to twice the cores of a rank.
std::vector<std::string> worker_counts(std::int64_t most) {
  std::vector<std::string> counts = {"0", "1"};
  for (std::int64_t power = 2; power <= most; power *= 2) {
    counts.push_back(std::to_string(power));
    if (power + power / 2 <= most && power >= 2)
      counts.push_back(std::to_string(power + power / 2));
  }
  return counts;
}

bool fixes(const RunConfig& base, std::string_view key) { return find_field(key)->given(base); }

constexpr double kMore = 0.01;             // gain of the rate that is worth another value
constexpr int kValuesAhead = 2;            // values that are predicted and added at a time
constexpr std::int64_t kMaxWorkers = 128;  // limit for all ranks, without a request for more
constexpr std::int64_t kMaxAhead = 32;     // batches of a worker, also without a request

constexpr const char* kWorkers = "num-workers";
constexpr const char* kAhead = "prefetch-factor";

const Axis* find_axis(const Tune& tune, const std::string& key) {
  const Axes& axes = tune.experiment.axes;
  const auto found =
      std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == key; });
  return found == axes.end() ? nullptr : &*found;
}

// Value of the case on an axis. 0 if it has none.
std::int64_t value_of(const Case& one, const std::string& key) {
  for (const Change& change : one.changes) {
    if (change.key == key) return parse_count(change.value);
  }
  return 0;
}

// Largest value of the axis that can be run.
std::int64_t axis_end(const Tune& tune, const std::string& key) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (is_possible(tune, i)) end = std::max(end, value_of(tune.experiment.cases[i], key));
  }
  return end;
}

// 1, 2, 3, 4, 6, 8, 12, ... workers; 1, 2, 4, 8, ... batches.
std::int64_t next_value(const std::string& key, std::int64_t after) {
  std::int64_t power = 1;
  while (2 * power <= after) power *= 2;
  const std::int64_t between = power + power / 2;
  if (after < power) return power;
  return key == kWorkers && power > 1 && between > after ? between : 2 * power;
}

// Highest estimated rates of the measured cases, with the last value and with smaller ones.
struct Ends {
  double last = 0, before = 0;
};
Ends measured_ends(const Tune& tune, const CaseEstimator& belief, const std::string& key,
                   std::int64_t end) {
  Ends ends;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (!belief.judgement().measured(i)) continue;
    const LoaderConfig& loader = tune.experiment.cases[i].config.loader;
    const std::int64_t value = key == kWorkers ? loader.num_workers : loader.prefetch_factor;
    if (value > end) continue;  // the present settings, which may lie past the grid
    double& rate = value == end ? ends.last : ends.before;
    rate = std::max(rate, belief.rate(i));
  }
  return ends;
}

Changes with_value(Changes changes, const Change& value) {
  std::erase_if(changes, [&](const Change& change) { return change.key == value.key; });
  changes.push_back(value);
  return changes;
}

// Prediction of a value, corrected by the error of the model on the best case.
std::optional<Forecast> make_forecast(const Tune& tune, const CaseEstimator& belief,
                                      const Forecaster& forecast, std::size_t best,
                                      const Change& value) {
  const std::optional<Forecast>& best_forecast = tune.candidates[best].predicted;
  if (!best_forecast || !(best_forecast->samples_per_s > 0)) return std::nullopt;
  try {
    Forecast said = forecast(predictable(with_value(tune.experiment.cases[best].changes, value)));
    const double factor = belief.rate(best) / best_forecast->samples_per_s;
    said.samples_per_s *= factor;
    said.busy = std::min(1.0, said.busy * factor);
    return said;
  } catch (const UsageError&) {
  } catch (const RunError&) {
  }
  return std::nullopt;
}

std::optional<BeyondGrid> beyond_axis(const Tune& tune, const CaseEstimator& belief,
                                      const Forecasters& forecasters, const std::string& key) {
  const std::size_t best = *belief.best();
  const std::int64_t end = axis_end(tune, key);
  const Ends ends = measured_ends(tune, belief, key, end);
  const bool has_levelled = ends.last > 0 && ends.last <= ends.before * (1 + tune.goal.within);
  if (end == 0 || has_levelled) return std::nullopt;
  const auto forecast = forecasters.find(tune.candidates[best].stratum);
  const bool is_known = forecast != forecasters.end() && forecast->second;
  std::int64_t value = end;
  for (int ahead = 0; ahead < kValuesAhead; ++ahead) {
    value = next_value(key, value);
    const Change change{key, std::to_string(value)};
    const auto said =
        is_known ? make_forecast(tune, belief, forecast->second, best, change) : std::nullopt;
    if (said && said->samples_per_s > belief.rate(best) * (1 + kMore))
      return BeyondGrid{change, said, ""};
    // Without a prediction, the measured rates decide: they still rise at the end.
    if (!said && ends.last > 0 && ends.before > 0) return BeyondGrid{change, std::nullopt, ""};
  }
  return std::nullopt;
}

}  // namespace

double parse_busy_goal(std::string_view text) {
  constexpr std::string_view kPrefix = "gpu:";
  constexpr const char* kExpected = "expected gpu: and a share, such as gpu:0.95 or gpu:95%";
  if (!text.starts_with(kPrefix)) throw ValueError(kExpected);
  text.remove_prefix(kPrefix.size());
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  try {
    const double share = parse_real(text) / (percent ? 100 : 1);
    if (share > 0 && share < 1) return share;
  } catch (const ValueError&) {
  }
  throw ValueError(kExpected);
}

Axes default_axes(const RunConfig& base, const MachineLimits& limits,
                  std::optional<std::int64_t> max_workers) {
  const double cores = base.declared.cores.given ? base.declared.cores.value : limits.cores;
  const auto rank_workers = static_cast<std::int64_t>(
      std::floor(2 * cores / static_cast<double>(std::max<std::int64_t>(1, base.trainer.ranks))));
  const std::int64_t most =
      std::min(std::max<std::int64_t>(4, rank_workers), max_workers.value_or(4096));
  const std::optional<GuestTraits> guest = guest_traits(base.engine.value);
  const bool has_own_threads = guest && !guest->is_data_loader;
  Axes axes;
  if (!fixes(base, "num-workers")) {
    std::vector<std::string> counts = worker_counts(most);
    if (has_own_threads) counts.erase(counts.begin());  // the least number is one
    axes.push_back({"num-workers", std::move(counts)});
  }
  if (!fixes(base, "prefetch-factor") && !fixes(base, "prefetch-depth"))
    axes.push_back({"prefetch-factor", {"1", "2", "4", "8"}});
  if (fixes(base, "memory") || fixes(base, "pin-memory")) return axes;
  if (has_own_threads) return axes;
  if (guest || base.program.command.given || base.program.loader.given) {
    axes.push_back({"pin-memory", {"false", "true"}});
  } else {
    axes.push_back({"memory", {"pageable", "pin-thread", "pinned-slots"}});
  }
  return axes;
}

std::optional<BeyondGrid> expected_beyond(const Tune& tune, const CaseEstimator& belief,
                                          const Forecasters& forecasters) {
  if (!belief.best() || (tune.goal.busy && belief.reaches_goal(*belief.cheapest())))
    return std::nullopt;
  for (const char* const key : {kWorkers, kAhead}) {
    if (find_axis(tune, key) == nullptr) continue;
    if (auto beyond = beyond_axis(tune, belief, forecasters, key)) return beyond;
  }
  return std::nullopt;
}

bool has_run_at_end(const Tune& tune, const std::string& key) {
  const std::int64_t end = axis_end(tune, key);
  return std::any_of(
      tune.experiment.cases.begin(), tune.experiment.cases.end(),
      [&](const Case& one) { return !one.runs.empty() && value_of(one, key) == end; });
}

std::string why_left_out(const Tune& tune, const Change& beyond, const TuneOptions& options,
                         Bytes private_bytes) {
  try {
    const RunConfig config = configure(tune.experiment.base, {beyond}, options.limits);
    return reason_not_to_run(config, options, private_bytes);
  } catch (const UsageError& error) {
    return error.what();
  } catch (const RunError& error) {
    return error.what();
  }
}

bool extend_axis(Tune& tune, const std::string& key, const TuneOptions& options) {
  const Experiment& experiment = tune.experiment;
  const std::int64_t ranks = std::max<std::int64_t>(1, experiment.base.trainer.ranks);
  const std::int64_t most =
      key == kAhead ? kMaxAhead
                    : std::min(kMaxWorkers / ranks, options.max_workers.value_or(kMaxWorkers));
  Axes axes = experiment.axes;
  const auto axis =
      std::find_if(axes.begin(), axes.end(), [&](const Axis& one) { return one.key == key; });
  const std::vector<std::string> old = std::exchange(axis->values, {});
  std::int64_t value = axis_end(tune, key);
  for (int ahead = 0; ahead < kValuesAhead; ++ahead) {
    value = next_value(key, value);
    const std::string text = std::to_string(value);
    const bool is_old = std::find(old.begin(), old.end(), text) != old.end();
    if (value <= most && !is_old) axis->values.push_back(text);
  }
  if (axis->values.empty()) return false;
  try {
    Experiment more = plan_experiment(experiment.base, axes, false, options.limits);
    const auto place = static_cast<std::size_t>(axis - axes.begin());
    std::vector<std::string>& values = tune.experiment.axes[place].values;
    values.insert(values.end(), axis->values.begin(), axis->values.end());
    for (Case& one : more.cases) {
      if (value_of(one, key) == 0) continue;  // the grid has this case already
      tune.experiment.cases.push_back(std::move(one));
      tune.candidates.emplace_back();
    }
    return true;
  } catch (const UsageError&) {
    return false;  // no such value can be
  }
}

}  // namespace loaderscope
