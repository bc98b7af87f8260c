#include "predict/prediction_window.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include "analysis/epochs.h"
#include "base/arithmetic.h"
#include "record/config_facts.h"

namespace loaderscope::model {
namespace {

constexpr std::int64_t kMinModelSteps = 60;
constexpr std::int64_t kMinLargeSteps = 20;  // used if 60 would be many times the wanted samples
constexpr std::int64_t kExcess = 3;          // times, that is not many
constexpr std::int64_t kMinBursts = 4;
constexpr std::int64_t kMinWindows = 4;  // batches made before them must not carry them

// Factor of the largest run: a part of such a short run may contain another share of epoch starts.
constexpr std::int64_t kFewEpochs = 8;

std::int64_t most_steps(const RunConfig& config, std::int64_t most_samples) {
  const std::int64_t per_step =
      sane_count(config.loader.batch_size) * sane_count(config.trainer.ranks);
  const std::int64_t fewest =
      std::clamp(kExcess * most_samples / per_step, kMinLargeSteps, kMinModelSteps);
  return std::max(fewest, most_samples / per_step);
}

// Workers deliver in bursts of their number: of whole bursts, and of more than a few.
std::int64_t round_to_bursts(std::int64_t steps, std::int64_t burst) {
  return divide_up(std::max(steps, kMinBursts * burst), burst) * burst;
}

// `own` applies to data with an epoch of `epoch` steps, at the place of the run. `wanted` applies
// to data without an end.
StepsToRun placed(const StepsToRun& own, const StepsToRun& wanted, std::int64_t epoch,
                  std::int64_t most) {
  if (epoch == 0) return wanted;
  if (own.warmup + own.measured <= epoch) {
    const std::int64_t measured = std::min(wanted.measured, epoch - own.warmup);
    return {std::min(wanted.warmup, epoch - measured), measured};
  }
  if (epoch > std::max(most, own.measured)) return own;
  const std::int64_t epochs = (own.measured + epoch / 2) / epoch;
  const std::int64_t whole = std::clamp<std::int64_t>(epochs, 1, divide_up(most, epoch));
  return {divide_up(own.warmup, epoch) * epoch, whole * epoch};
}

// Epochs that begin within the steps, not at the first step of all.
std::int64_t starts_within(const StepsToRun& steps, std::int64_t epoch) {
  const auto before = [&](std::int64_t step) {
    return std::max<std::int64_t>(0, step - 1) / epoch;
  };
  return before(steps.warmup + steps.measured) - before(steps.warmup);
}

// Returns true if a step of both has about the same share of epoch starts.
bool start_as_often(const StepsToRun& a, const StepsToRun& b, std::int64_t epoch) {
  constexpr double kAbout = 0.2;
  const auto often = [&](const StepsToRun& steps) {
    return static_cast<double>(starts_within(steps, epoch)) / static_cast<double>(steps.measured);
  };
  return std::abs(often(a) - often(b)) <= kAbout * often(a);
}

// Returns the steps with the same number of samples at another batch size.
std::int64_t convert_steps(const RunConfig& to, std::int64_t steps, const RunConfig& from) {
  return std::max<std::int64_t>(
      1, steps * sane_count(from.loader.batch_size) / sane_count(to.loader.batch_size));
}

}  // namespace

void set_window(RunConfig& config, const StepsToRun& steps) {
  config.measure.steps.set(steps.measured);
  config.measure.duration.given = false;
  config.measure.warmup.value = {steps.warmup, 0};
}

StepsToRun steps_of_run(const StepsToRun& run, const RunConfig& config, std::int64_t most_samples) {
  const std::int64_t most = most_steps(config, most_samples);
  StepsToRun steps = {std::min(run.warmup, 2 * most), run.measured};
  if (steps.measured <= most) return steps;
  const std::int64_t epoch = std::max<std::int64_t>(1, steps_of_epoch(config));
  const StepsToRun fewer = {steps.warmup, std::min(steps.measured, divide_up(most, epoch) * epoch)};
  const bool is_short = steps.measured <= kFewEpochs * divide_up(most, epoch) * epoch;
  return epoch > 1 && is_short && !start_as_often(steps, fewer, epoch) ? steps : fewer;
}

MatchedWindows match_windows(const StepsToRun& run, const RunConfig& base, const RunConfig& changed,
                             std::int64_t most_samples) {
  const std::int64_t most = most_steps(changed, most_samples);
  const StepsToRun own_base = steps_of_run(run, base, most_samples);
  StepsToRun own = own_base;
  own.measured = convert_steps(changed, own_base.measured, base);
  StepsToRun wanted = own;
  if (changed.loader.num_workers != base.loader.num_workers && changed.loader.num_workers > 0)
    wanted.measured = round_to_bursts(own.measured, changed.loader.num_workers);
  const std::int64_t deeper = batches_ahead(changed) - batches_ahead(base);
  if (deeper > 0) {
    wanted.measured =
        std::max(wanted.measured, std::min(most, kMinWindows * batches_ahead(changed)));
    // Filled, and no longer than that: another window has other draws, which are no gain.
    if (own.warmup > 0)
      wanted.warmup = std::max(own.warmup, std::min(batches_ahead(changed), 2 * most));
  }
  StepsToRun wanted_base = {wanted.warmup, convert_steps(base, wanted.measured, changed)};
  return {placed(own_base, wanted_base, steps_of_epoch(base), most_steps(base, most_samples)),
          placed(own, wanted, steps_of_epoch(changed), most)};
}

MatchedWindows with_starts_of_epochs(const MatchedWindows& sides, const RunConfig& base,
                                     const RunConfig& changed, std::int64_t most_samples) {
  const bool is_other = changed.loader.num_workers != base.loader.num_workers ||
                        changed.loader.prefetch_factor != base.loader.prefetch_factor;
  const std::int64_t base_epoch = steps_of_epoch(base), changed_epoch = steps_of_epoch(changed);
  const bool is_within = sides.base.warmup + sides.base.measured <= base_epoch;
  if (!is_other || changed.loader.num_workers == 0 || !is_within ||
      changed_epoch > most_steps(changed, most_samples) ||
      base_epoch > most_steps(base, most_samples))
    return sides;
  return {{base_epoch, base_epoch}, {changed_epoch, changed_epoch}};
}

Prediction BaselineCache::over(const RunConfig& config, const std::function<Prediction()>& run) {
  const Window window = {config.measure.steps.value, config.measure.duration.value,
                         config.measure.warmup.value.steps, config.measure.warmup.value.duration,
                         config.measure.epochs.value};
  std::promise<Prediction> promise;
  std::shared_future<Prediction> result;
  bool is_mine = false;
  {
    const std::lock_guard lock(mutex_);
    std::shared_future<Prediction>& known = runs_[window];
    is_mine = !known.valid();
    if (is_mine) known = promise.get_future().share();
    result = known;
  }
  if (is_mine) {
    try {
      promise.set_value(run());
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return result.get();
}

}  // namespace loaderscope::model
