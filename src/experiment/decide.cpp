// The answer of a tune, from its runs and its models.
#include <algorithm>

#include "experiment/tuner_parts.h"

namespace loaderscope {
namespace {

constexpr double kMayWell = 0.25;  // probability from which on a case is named that is not proven

// Cases that should have run and did not.
bool has_unseen_rivals(const Tune& tune, const CaseEstimator& belief) {
  const std::vector<std::size_t> open = what_to_run(tune, belief);
  return std::any_of(open.begin(), open.end(),
                     [&](std::size_t i) { return tune.experiment.cases[i].runs.empty(); });
}

// True if no run rules the case out and no other case is expected to be better.
bool may_reach_goal(const Tune& tune, const CaseEstimator& belief, std::size_t i) {
  return tune.goal.busy ? !belief.is_ruled_out(i) : !has_unseen_rivals(tune, belief);
}

// The answer if nothing is proven: the cheapest case that may well reach the goal, or else the
// best. A case that is nearly ruled out is no answer, although more runs might prove it.
std::optional<std::size_t> fallback(const Tune& tune, const CaseEstimator& belief) {
  std::optional<std::size_t> result;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (!belief.judgement().measured(i) || belief.chance(i) < kMayWell) continue;
    if (!result || belief.is_cheaper(i, *result)) result = i;
  }
  return result ? result : tune.best;
}

}  // namespace

void decide(Tune& tune, const CaseEstimator& belief) {
  const CaseStatistics& judgement = belief.judgement();
  tune.best = judgement.best();
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (!judgement.measured(i) || belief.probability(i) < kProven) continue;
    if (tune.experiment.cases[i].runs.size() < kMinRuns) continue;
    if (!tune.recommended || belief.is_cheaper(i, *tune.recommended)) tune.recommended = i;
  }
  tune.proven = tune.recommended.has_value() && !has_unseen_rivals(tune, belief);
  if (!tune.recommended) tune.recommended = fallback(tune, belief);
  if (!tune.recommended) return;
  tune.probability = belief.probability(*tune.recommended);
  tune.goal_reached = tune.proven || belief.reaches_goal(*tune.recommended) ||
                      may_reach_goal(tune, belief, *tune.recommended);
}

}  // namespace loaderscope
