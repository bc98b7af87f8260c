// Runs that prove an analysis, and their outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"

namespace loaderscope {

// Returns the runs for `asked`: cases without runs, or the reason why no case shows anything.
Proof plan_proof(Prove asked, const RunRecord& record, const Analysis& analysis);

// Plans turns of `steps` steps, if `first` has that number. Otherwise the turns are fewer and
// shorter, with at least `fewest` steps, or `why_not` is set. `gain`: factor of the rate without
// the loader.
ReplaySchedule plan_turns(const RunRecord& first, std::int64_t steps, std::int64_t fewest,
                          double gain, std::string& why_not);

// Runs of the turns of `record`, without rounds that it did not complete.
struct TurnRuns {
  std::vector<ProofRun> loader, replay;
};
TurnRuns runs_of_turns(const RunRecord& record, const ReplaySchedule& turns);

// Mean over the rounds, with its 95 % interval if there are enough rounds.
struct Measured {
  double mean = 0;
  std::optional<double> low, high;
};

enum class ProofVerdict : std::uint8_t {
  proved,         // the gain is as predicted, and at least 2 points
  refuted,        // leaving it out gains nothing
  not_confirmed,  // the gain differs from the prediction
  cannot_tell,
};
std::string_view name_of(ProofVerdict verdict);

// Outcome of the runs of a case.
struct ProofOutcome {
  Measured samples_per_s, busy;
  Measured gain;  // factor of the rate over the base case of the same round; 0 without one
  // True if the predicted gain lies in the measured interval, widened by the error of the
  // prediction. Empty without a prediction or an interval.
  std::optional<bool> confirmed;
  // True if the whole interval of the gain lies above 1. False if it lies below a useful gain.
  // Empty otherwise.
  std::optional<bool> helps;
  ProofVerdict verdict = ProofVerdict::cannot_tell;
};
ProofOutcome proof_outcome(const Proof& proof, const ProofCase& proof_case);

}  // namespace loaderscope
