#include "experiment/case_run.h"
#include "record/family_traits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/contention.h"
#include "analysis/totals.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMinSteps = 20;
constexpr std::int64_t kMinBursts = 4;
constexpr Nanos kShortestWindow = 3 * kSecond / 10;
constexpr Nanos kShortestOfSweep = 3 * kSecond / 10;  // length of one run
constexpr Nanos kMaxOfSweep = 10 * kSecond;

Bytes metric_bytes(const RunRecord& record, std::string_view name) {
  return std::llround(std::min(value_of(record.metrics, name).value_or(0), 0x1p60));
}

std::int64_t burst_steps(const RunConfig& config) {
  const bool bursts =
      config.loader.task == TaskShape::batch && config.loader.executor != Executor::inline_;
  return bursts ? std::max<std::int64_t>(1, config.loader.num_workers) : 1;
}

// Virtual time is what the model's run would have taken.
Nanos virtual_time(const RunRecord& record) {
  Nanos longest = 0;
  for (const RankRecord& rank : record.ranks)
    longest = std::max(longest, rank.window_end - rank.first_ask);
  return longest;
}

Nanos mean_step(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().steps() <= 0) return 0;
  return record.ranks.front().window() / record.ranks.front().steps();
}

std::int64_t count_steps(const RunRecord& record) {
  return record.ranks.empty() ? 0 : record.ranks.front().steps();
}

std::optional<CaseReadStats> read_stats(const RunRecord& record) {
  const auto metric = [&](std::string_view name) {
    return value_of(record.metrics, name).value_or(0);
  };
  const StageStats read = job_stages(record)[Stage::read];
  const double brought = metric(metric::source_bytes_brought),
               used = metric(metric::source_bytes_of_samples);
  const double samples = metric(metric::source_samples);
  if (read.count == 0 || samples <= 0 || used <= 0) return std::nullopt;
  CaseReadStats reading;
  reading.per_sample = read.wall / read.count;
  Nanos window = 0;
  for (const RankRecord& rank : record.ranks) window = std::max(window, rank.window());
  if (window > 0) reading.in_flight = static_cast<double>(read.wall) / static_cast<double>(window);
  reading.requests = metric(metric::source_requests) / samples;
  reading.touched = brought / used;
  return reading;
}

// A time that is only shown: it ends where numbers do.
Nanos product(Nanos time, std::int64_t times) {
  Nanos result = 0;
  return __builtin_mul_overflow(time, times, &result) ? std::numeric_limits<Nanos>::max() : result;
}

bool varies_seed(const Case& one) {
  return std::any_of(one.changes.begin(), one.changes.end(),
                     [](const Change& change) { return change.key == "seed"; });
}

// A run that ends for lack of samples is no failure, if it had enough steps: it measured all
// samples.
bool had_enough(const RunRecord& record, const RunConfig& config) {
  return count_steps(record) >= fewest_steps(config);
}

}  // namespace

std::int64_t warmup_steps(const RunConfig& config) {
  return std::max<std::int64_t>(config.measure.warmup.value.steps, burst_steps(config));
}

bool has_length(const RunConfig& config) {
  return config.measure.duration.given || config.measure.steps.given || config.measure.epochs.given;
}

std::int64_t fewest_steps(const RunConfig& config) {
  const std::int64_t burst = burst_steps(config);
  const std::int64_t steps = std::max(kMinSteps, kMinBursts * burst);
  return (steps + burst - 1) / burst * burst;
}

CaseRun make_case_run(const RunRecord& record) {
  const Analysis analysis = analyse(record);
  CaseRun run;
  run.samples_per_s = analysis.samples_per_s;
  run.has_busy = analysis.has_busy;
  run.busy = analysis.busy;
  run.account = analysis.account;
  run.steps = analysis.steps;
  run.samples = analysis.samples;
  run.cpu_s = value_of(record.metrics, metric::process_cpu_s);
  if (!run.cpu_s) run.cpu_s = seconds(cpu_of_stages(record));
  if (!is_held_by_quota(record))
    run.other_cpu_s = value_of(record.metrics, metric::host_other_cpu_s).value_or(0);
  run.resident = metric_bytes(record, metric::memory_resident_bytes);
  run.pinned = metric_bytes(record, metric::memory_pinned_bytes);
  run.shared = metric_bytes(record, metric::memory_shm_bytes);
  run.worker_bytes = metric_bytes(record, metric::memory_worker_private_bytes);
  run.slots = metric_bytes(record, metric::memory_host_bytes);
  if (run.slots == 0) run.slots = metric_bytes(record, metric::memory_needed_bytes);
  run.reading = read_stats(record);
  run.first_batch = analysis.first_batch_wall;
  run.bound_by = analysis.verdict.bound_by.value_or("");
  run.withheld = analysis.verdict.withheld_reason.value_or("");
  return run;
}

Nanos length_of_sweep(Nanos budget, std::size_t cases) {
  constexpr double kForRuns = 0.9;  // share of the budget; the rest is for longer runs
  const auto runs = static_cast<Nanos>(2 * std::max<std::size_t>(1, cases));
  const auto each = static_cast<Nanos>(kForRuns * static_cast<double>(budget)) / runs;
  return std::clamp(each, std::min(kShortestOfSweep, budget), kMaxOfSweep);
}

CaseRunner::CaseRunner(Experiment& experiment, const ExperimentContext& context, Nanos length,
                       Nanos budget)
    : experiment_(experiment), context_(context), length_(length), budget_(budget) {}

Nanos CaseRunner::start() const {
  std::optional<Nanos> start;
  for (const Case& one : experiment_.cases) {
    for (const CaseRun& run : one.runs) {
      const Nanos step = run.account.window / std::max<std::int64_t>(1, run.steps);
      const Nanos steps = run.account.window + step * warmup_steps(one.config);
      const Nanos rest = std::max<Nanos>(0, run.took - steps);
      start = std::min(start.value_or(rest), rest);
    }
  }
  return start.value_or(0);
}

// A start cannot be measured in.
Nanos CaseRunner::window() const {
  return std::max(length_ - start(), std::min(length_, kShortestWindow));
}

// Limits the run by duration if the step time is only predicted, so that a wrong prediction costs
// no time.
RunConfig CaseRunner::with_length(const Case& one, int round, Nanos step, bool measured) const {
  const RunConfig& config = one.config;
  RunConfig result = config;
  if (!varies_seed(one)) result.measure.seed.value += round;
  if (!config.measure.warmup.given) result.measure.warmup.value.steps = warmup_steps(config);
  if (has_length(config)) return result;
  result.measure.duration.given = false;
  const Nanos length = window();
  const bool believed_enough = !measured && step > 0 && length / step >= fewest_steps(config);
  if (step <= 0 || believed_enough) {
    result.measure.duration.set(length);
    return result;
  }
  const std::int64_t burst = burst_steps(config);
  const std::int64_t wanted = (length / step + burst - 1) / burst * burst;
  result.measure.steps.set(std::max(wanted, fewest_steps(config)));
  return result;
}

std::optional<RunRecord> CaseRunner::attempt(Case& one, const RunConfig& config, Nanos& took) {
  const Nanos begin = context_.now();
  try {
    RunRecord record = context_.run(config);
    took = is_model_engine(record.engine) ? virtual_time(record) : context_.now() - begin;
    experiment_.spent += took;
    experiment_.interrupted |= record.interrupted;
    if (!record.interrupted || had_enough(record, config)) return record;
  } catch (const UsageError& error) {
    one.skipped = error.what();
  } catch (const RunError& error) {
    one.skipped = error.what();
    experiment_.spent += context_.now() - begin;
  }
  if (stopped()) one.skipped.clear();
  return std::nullopt;
}

void CaseRunner::keep(Case& one, const RunRecord& record, int round, Nanos took) {
  CaseRun run = make_case_run(record);
  run.round = round;
  run.took = took;
  if (run.steps == 0 || !(run.samples_per_s.mean > 0)) {
    one.skipped = "no step was measured: " +
                  (run.withheld.empty() ? std::string("the run was too short") : run.withheld);
    return;
  }
  one.runs.push_back(std::move(run));
  adopt_loader(experiment_, record.config, one.changes);
}

void CaseRunner::refuse_short_budget(Nanos step, std::int64_t steps) const {
  if (step <= left() / steps) return;
  const auto cases = static_cast<std::int64_t>(experiment_.cases.size());
  throw UsageError(
      fmt::format("--budget {}: is too short for one case, which takes about {} ({} of {})",
                  duration_to_text(budget_), format_duration(product(step, steps)),
                  plural(steps, "step"), format_duration(step)),
      fmt::format("{} {} a budget of about {}", plural(cases, "case"),
                  cases == 1 ? "needs" : "need",
                  format_duration(product(product(step, steps), 2 * cases))));
}

std::optional<RunRecord> CaseRunner::run(Case& one, int round, Nanos step) {
  const bool first = std::all_of(experiment_.cases.begin(), experiment_.cases.end(),
                                 [](const Case& c) { return c.runs.empty(); });
  if (step == 0 && !one.runs.empty())
    step = one.runs.back().account.window / std::max<std::int64_t>(1, one.runs.back().steps);
  Nanos took = 0;
  const bool measured = !one.runs.empty();
  std::optional<RunRecord> record = attempt(one, with_length(one, round, step, measured), took);
  if (record && !has_length(one.config) && !measured && !had_enough(*record, one.config) &&
      !record->input_ended_in_warmup) {
    const Nanos known = mean_step(*record) > 0 ? mean_step(*record) : std::max<Nanos>(1, took);
    const std::int64_t steps = fewest_steps(one.config) + warmup_steps(one.config);
    if (first) refuse_short_budget(known, steps);
    if (known > left() / steps) {
      one.skipped = fmt::format(
          "a run takes about {} ({} of {}), more than is left of the budget; give a longer "
          "--budget",
          format_duration(product(known, steps)), plural(steps, "step"), format_duration(known));
      return std::nullopt;
    }
    record = attempt(one, with_length(one, round, known, true), took);
  }
  if (!record) return std::nullopt;
  keep(one, *record, round, took);
  if (context_.after_run) context_.after_run(experiment_, budget_);
  if (!one.skipped.empty()) return std::nullopt;
  return record;
}

Nanos CaseRunner::next_run(const Case& one) const {
  if (!one.runs.empty()) return one.runs.back().took;
  Nanos shortest = 0;
  for (const Case& other : experiment_.cases) {
    for (const CaseRun& run : other.runs)
      shortest = shortest == 0 ? run.took : std::min(shortest, run.took);
  }
  return shortest;
}

}  // namespace loaderscope
