// Another program's loader and the batches that it delivered, alternating within one run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_record.h"
#include "predict/proof_runs.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxRounds = 5, kMinRounds = 3;
constexpr double kMaxGain = 20;  // largest gain that settling allows for

// A run that nothing but its input ends has no more steps the next time.
bool ends_by_itself(const RunConfig& config) {
  const bool endless = config.program.command.given ? false : config.measure.epochs == 0;
  return !endless && config.measure.steps == 0 &&
         (config.measure.duration == 0 || !config.measure.duration.given);
}

// The steps with the numbers [first, last] of one rank.
struct MeasuredSteps {
  Nanos begin = 0, end = 0, compute = 0;
  std::int64_t samples = 0, steps = 0;
};

MeasuredSteps measured_steps(const RankRecord& rank, std::int64_t first, std::int64_t last) {
  MeasuredSteps measured;
  const auto add = [&](const StepRow& row) {
    if (row.step == first - 1) measured.begin = row.compute_end;
    if (row.step < first || row.step > last) return;
    measured.end = row.compute_end;
    measured.compute += row.compute();
    measured.samples += row.samples;
    ++measured.steps;
  };
  rank.rows.for_each(add, std::max<std::int64_t>(first - 1, 0));
  return measured;
}

// Returns nothing if a rank did not complete the steps.
std::optional<ProofRun> run_of_steps(const RunRecord& record, std::int64_t first,
                                     std::int64_t steps) {
  if (record.ranks.empty()) return std::nullopt;  // the run ended before its first step
  ProofRun run;
  for (const RankRecord& rank : record.ranks) {
    const MeasuredSteps measured = measured_steps(rank, first, first + steps - 1);
    if (measured.steps < steps || measured.end <= measured.begin) return std::nullopt;
    const Nanos window = measured.end - measured.begin;
    run.samples_per_s += static_cast<double>(measured.samples) / seconds(window);
    run.busy += static_cast<double>(measured.compute) / static_cast<double>(window) /
                static_cast<double>(record.ranks.size());
  }
  return run;
}

}  // namespace

ReplaySchedule plan_turns(const RunRecord& first, std::int64_t steps, std::int64_t fewest,
                          double gain, std::string& why_not) {
  const RunConfig& config = first.config;
  const RankRecord& rank = first.ranks.front();
  const std::int64_t window = config.loader.prefetch_factor * config.loader.num_workers;
  ReplaySchedule turns;
  turns.lead = std::max<std::int64_t>(rank.warmup_steps, 1);
  turns.settle_loader = window + config.trainer.in_flight;
  const double faster = std::clamp(gain, 1.0, kMaxGain);
  // Workers continue until their prefetch depth is full, at any step time.
  turns.settle_replay = std::llround(std::ceil(static_cast<double>(turns.settle_loader) * faster));
  turns.steps = steps;
  turns.rounds = kMaxRounds;
  const std::int64_t had = rank.rows.size();
  if (!ends_by_itself(config) || turns.all() <= had) return turns;

  for (; turns.rounds >= kMinRounds; --turns.rounds) {
    const std::int64_t per_round = (had - turns.lead) / turns.rounds;
    turns.steps = (per_round - turns.settle_loader - turns.settle_replay) / 2;
    if (turns.steps >= fewest) return turns;
  }
  turns.rounds = kMinRounds;
  turns.steps = fewest;
  why_not = fmt::format(
      "the run has {} steps, and the loader and batches that it delivered need {} by turns; let it "
      "train longer",
      had, turns.all());
  return turns;
}

TurnRuns runs_of_turns(const RunRecord& record, const ReplaySchedule& turns) {
  TurnRuns runs;
  for (std::int64_t round = 0; round < turns.rounds; ++round) {
    const std::int64_t begin = turns.lead + round * turns.round();
    const auto loader = run_of_steps(record, begin + turns.settle_loader, turns.steps);
    const auto replay =
        run_of_steps(record, begin + turns.loader() + turns.settle_replay, turns.steps);
    if (!loader || !replay) break;
    runs.loader.push_back(*loader);
    runs.replay.push_back(*replay);
  }
  return runs;
}

}  // namespace loaderscope
