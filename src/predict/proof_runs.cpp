// Another program's loader and the batches that it delivered, alternating within one run. Outcome
// of the runs of a proof.
#include "predict/proof_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/removal.h"
#include "analysis/statistics.h"
#include "loaderscope/run_record.h"

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

constexpr std::size_t kMinForInterval = 3;
constexpr double kLevel = 0.95;

// Student's interval of the mean; of equal values, for `exact`, the value itself.
Measured mean_measured(const std::vector<double>& values, bool exact) {
  Measured result;
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  for (double value : values) result.mean += value / n;
  if (exact) result.low = result.high = result.mean;
  if (exact || values.size() < kMinForInterval) return result;
  double squares = 0;
  for (double value : values) squares += (value - result.mean) * (value - result.mean);
  const auto degrees = static_cast<std::int64_t>(values.size()) - 1;
  const double half = student_quantile(1 - (1 - kLevel) / 2, degrees) *
                      std::sqrt(squares / static_cast<double>(degrees) / n);
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

Measured mean_measured(const Proof& proof, const ProofCase& proof_case, double ProofRun::*member,
                       double most) {
  std::vector<double> values;
  for (const ProofRun& run : proof_case.runs) values.push_back(run.*member);
  Measured result = mean_measured(values, proof.exact);
  if (result.low) result.low = std::max(*result.low, 0.0);
  if (result.high) result.high = std::min(*result.high, most);
  return result;
}

// Uses ratios, as a slow phase of the machine affects both runs of a pair.
Measured pair_gain(const Proof& proof, const ProofCase& proof_case) {
  if (&proof_case == &proof.base) return {};
  std::vector<double> logarithms;
  const std::size_t pairs = std::min(proof_case.runs.size(), proof.base.runs.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    const double before = proof.base.runs[i].samples_per_s,
                 after = proof_case.runs[i].samples_per_s;
    if (before > 0 && after > 0) logarithms.push_back(std::log(after / before));
  }
  if (logarithms.empty()) return {};
  const Measured logarithm = mean_measured(logarithms, proof.exact);
  Measured gain{std::exp(logarithm.mean), {}, {}};
  if (logarithm.low) gain.low = std::exp(*logarithm.low);
  if (logarithm.high) gain.high = std::exp(*logarithm.high);
  return gain;
}

std::optional<bool> helps(const Measured& gain) {
  constexpr double kWorthAChange = 1.02;
  if (!gain.low || !gain.high) return std::nullopt;
  if (*gain.low > 1) return true;
  if (*gain.high < kWorthAChange) return false;
  return std::nullopt;
}

// A knock-out of the blamed cause must gain something. If the GPU is the limit, it must gain
// nothing.
ProofVerdict judge_outcome(const Proof& proof, const ProofOutcome& outcome) {
  constexpr double kMin = 1 / (1 - kMinUsefulGain);
  if (!outcome.gain.low || !outcome.gain.high) return ProofVerdict::cannot_tell;
  if (!proof.gpu_is_limit && *outcome.gain.high < kMin) return ProofVerdict::refuted;
  if (!outcome.confirmed) return ProofVerdict::cannot_tell;
  if (!*outcome.confirmed) return ProofVerdict::not_confirmed;
  return proof.gpu_is_limit || *outcome.gain.low >= kMin ? ProofVerdict::proved
                                                         : ProofVerdict::cannot_tell;
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
      "the run has {} steps, and the loader and batches that it delivered need {} in alternation; "
      "let it "
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

std::string_view name_of(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::proved:
      return "proved";
    case ProofVerdict::refuted:
      return "refuted";
    case ProofVerdict::not_confirmed:
      return "not confirmed";
    case ProofVerdict::cannot_tell:
      return "cannot tell";
  }
  return "?";
}

double ProofPrediction::gain() const {
  return base.samples_per_s > 0 ? after.samples_per_s / base.samples_per_s : 0;
}

ProofOutcome proof_outcome(const Proof& proof, const ProofCase& proof_case) {
  constexpr double kRounding = 1e-9;
  ProofOutcome outcome;
  outcome.samples_per_s = mean_measured(proof, proof_case, &ProofRun::samples_per_s, HUGE_VAL);
  outcome.busy = mean_measured(proof, proof_case, &ProofRun::busy, 1);
  outcome.gain = pair_gain(proof, proof_case);
  if (proof_case.predicted && outcome.gain.low && outcome.gain.high) {
    const double widened = 1 + proof_case.predicted->error + kRounding;
    const double gain = proof_case.predicted->gain();
    outcome.confirmed = gain >= *outcome.gain.low / widened && gain <= *outcome.gain.high * widened;
  }
  outcome.helps = helps(outcome.gain);
  outcome.verdict = judge_outcome(proof, outcome);
  return outcome;
}

}  // namespace loaderscope
