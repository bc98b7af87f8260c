// Outcome of the runs of a proof.
#include <algorithm>
#include <cmath>

#include "analysis/removal.h"
#include "analysis/statistics.h"
#include "loaderscope/analysis.h"
#include "predict/proof_runs.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMinForInterval = 3;
constexpr double kLevel = 0.95;

// Student's interval of the mean; of equal values, for `exact`, the value itself.
Measured mean_of(const std::vector<double>& values, bool exact) {
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

Measured mean_of(const Proof& proof, const ProofCase& of, double ProofRun::*member, double most) {
  std::vector<double> values;
  for (const ProofRun& run : of.runs) values.push_back(run.*member);
  Measured result = mean_of(values, proof.exact);
  if (result.low) result.low = std::max(*result.low, 0.0);
  if (result.high) result.high = std::min(*result.high, most);
  return result;
}

// Uses ratios, as a slow phase of the machine affects both runs of a pair.
Measured gain_of(const Proof& proof, const ProofCase& of) {
  if (&of == &proof.base) return {};
  std::vector<double> logarithms;
  const std::size_t pairs = std::min(of.runs.size(), proof.base.runs.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    const double before = proof.base.runs[i].samples_per_s, after = of.runs[i].samples_per_s;
    if (before > 0 && after > 0) logarithms.push_back(std::log(after / before));
  }
  if (logarithms.empty()) return {};
  const Measured of_logarithms = mean_of(logarithms, proof.exact);
  Measured gain{std::exp(of_logarithms.mean), {}, {}};
  if (of_logarithms.low) gain.low = std::exp(*of_logarithms.low);
  if (of_logarithms.high) gain.high = std::exp(*of_logarithms.high);
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
ProofVerdict verdict_of(const Proof& proof, const ProofOutcome& outcome) {
  constexpr double kMin = 1 / (1 - kMinUsefulGain);
  if (!outcome.gain.low || !outcome.gain.high) return ProofVerdict::cannot_tell;
  if (!proof.gpu_is_limit && *outcome.gain.high < kMin) return ProofVerdict::refuted;
  if (!outcome.confirmed) return ProofVerdict::cannot_tell;
  if (!*outcome.confirmed) return ProofVerdict::not_confirmed;
  return proof.gpu_is_limit || *outcome.gain.low >= kMin ? ProofVerdict::proved
                                                         : ProofVerdict::cannot_tell;
}

}  // namespace

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

ProofOutcome outcome_of(const Proof& proof, const ProofCase& of) {
  constexpr double kRounding = 1e-9;
  ProofOutcome outcome;
  outcome.samples_per_s = mean_of(proof, of, &ProofRun::samples_per_s, HUGE_VAL);
  outcome.busy = mean_of(proof, of, &ProofRun::busy, 1);
  outcome.gain = gain_of(proof, of);
  if (of.predicted && outcome.gain.low && outcome.gain.high) {
    const double widened = 1 + of.predicted->error + kRounding;
    const double gain = of.predicted->gain();
    outcome.confirmed = gain >= *outcome.gain.low / widened && gain <= *outcome.gain.high * widened;
  }
  outcome.helps = helps(outcome.gain);
  outcome.verdict = verdict_of(proof, outcome);
  return outcome;
}

}  // namespace loaderscope
