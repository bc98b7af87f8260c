#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"
#include "experiment/compare/comparability.h"
#include "experiment/compare/compare.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"

namespace loaderscope::compare {

std::int64_t count_workers(const RunRecord& record) {
  return record.config.loader.num_workers * std::ssize(record.ranks);
}

void take_workers(const RunRecord& record, std::int64_t arm, Comparison& comparison) {
  const std::int64_t workers = count_workers(record);
  if (arm == 0) {
    comparison.workers = workers;
  } else if (workers != comparison.workers) {
    comparison.workers_of_b = workers;
  }
}

SideRun make_side_run(const RunRecord& record, std::int64_t arm, std::int64_t block) {
  const Analysis analysis = analyse(record);
  SideRun run;
  run.block = block;
  run.arm = arm;
  run.quantities = measure_quantities(record, analysis);
  run.counts = collect_counts(record);
  run.details = record.details;
  const double window = seconds(analysis.account.window);
  const double others =
      loaderscope::value_of(record.metrics, metric::host_other_cpu_s).value_or(0) +
      loaderscope::value_of(record.metrics, metric::host_steal_s).value_or(0);
  run.other_cores = window > 0 ? others / window : 0;
  return run;
}

namespace {

// Our own loader, with the same seed over the same steps, makes the same samples.
bool draws_alike(const RunRecord& a, const RunRecord& b) {
  const MeasureConfig& here = a.config.measure;
  const MeasureConfig& there = b.config.measure;
  return !is_guest_engine(a.engine) && here.steps > 0 && here.steps == there.steps &&
         here.seed == there.seed;
}

bool is_in_virtual_time(const RunRecord& record) { return record.engine == "model"; }

// Deviation of a run's rate, estimated from its own steps.
double spread_of_steps(const RunRecord& record) {
  constexpr double kDeviations = 1.96;  // deviations in half of a 95 % interval
  const Estimate rate = analyse(record).samples_per_s;
  return rate.mean > 0 ? (rate.high - rate.low) / 2 / kDeviations / rate.mean : 0;
}

void take_spread(const RunRecord& a, const RunRecord& b, const std::optional<KnownNoise>& known,
                 Comparison& comparison) {
  constexpr double kMax = 10;  // a logarithm: no change can be seen
  if (analyse(a).is_too_short() || analyse(b).is_too_short()) {
    comparison.known = KnownNoise{.rate = kMax, .cpu = kMax, .jobs = 0};
    return;
  }
  if (is_in_virtual_time(a)) {
    comparison.known = kSpreadOfModel;
    return;
  }
  KnownNoise spread = known.value_or(kAssumedSpread);
  const double step_spread = std::min(kMax, std::max(spread_of_steps(a), spread_of_steps(b)));
  if (step_spread > spread.rate) {
    comparison.notes.push_back(fmt::format(
        "the steps within a run differ more than runs of the same code: by {} of the rate",
        format_percent(step_spread)));
    spread.rate = step_spread;
  }
  comparison.known = spread;
}

}  // namespace

Comparison compare_two_runs(const RunRecord& a, const RunRecord& b,
                            const std::optional<KnownNoise>& known) {
  const Comparability comparability = check_comparability(a, b);
  if (!comparability.forbids.empty()) {
    throw RunError(fmt::format("not comparable: {}", fmt::join(comparability.forbids, ", and ")),
                   "measure both alike, or compare flags and refs");
  }
  Comparison comparison;
  comparison.is_of_results = true;
  comparison.notes = comparability.warns;
  comparison.changed_settings = comparability.settings;
  comparison.same_flags = comparability.settings.empty();
  take_spread(a, b, known, comparison);
  take_workers(a, 0, comparison);
  take_workers(b, 1, comparison);
  comparison.cores = a.machine.cores;
  comparison.planned_pairs = 1;
  comparison.runs = {make_side_run(a, 0, 0), make_side_run(b, 1, 0)};
  const bool alike = draws_alike(a, b);
  for (SideRun& run : comparison.runs)
    std::erase_if(run.counts,
                  [&](const auto& count) { return !alike || !follows_from_draws(count.first); });
  return comparison;
}

}  // namespace loaderscope::compare
