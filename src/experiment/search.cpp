// The next runs of a tune, and its answer from its runs and its models.
#include <algorithm>

#include "experiment/tuner_parts.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxRuns = 8;  // limit for one case

// All but the workers are the same; without workers there is no window to be the same.
bool is_alike(const Tune& tune, std::size_t a, std::size_t b) {
  const std::vector<Case>& cases = tune.experiment.cases;
  const bool none =
      cases[a].config.loader.num_workers == 0 || cases[b].config.loader.num_workers == 0;
  const auto rest = [&](std::size_t i) {
    Changes changes = cases[i].changes;
    std::erase_if(changes, [&](const Change& change) {
      return change.key == "num-workers" || (none && change.key == "prefetch-factor");
    });
    return changes;
  };
  return rest(a) == rest(b);
}

// The next smaller and the next larger number of workers: more are not always better.
std::vector<std::size_t> neighbours(const Tune& tune, std::size_t origin) {
  const std::vector<Case>& cases = tune.experiment.cases;
  const auto workers = [&](std::size_t i) { return cases[i].config.loader.num_workers.value; };
  std::optional<std::size_t> less, more;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!is_possible(tune, i) || !is_alike(tune, i, origin)) continue;
    if (workers(i) < workers(origin) && (!less || workers(i) > workers(*less))) less = i;
    if (workers(i) > workers(origin) && (!more || workers(i) < workers(*more))) more = i;
  }
  std::vector<std::size_t> result;
  if (less) result.push_back(*less);
  if (more) result.push_back(*more);
  return result;
}

// Returns true if a case is neither proven nor ruled out and more runs can decide. A few more runs
// cannot decide a case on the limit itself.
bool is_open(const Tune& tune, const CaseEstimator& belief, std::size_t i) {
  if (tune.experiment.cases[i].runs.size() < kMinRuns) return !belief.is_ruled_out(i);
  return !belief.is_ruled_out(i) && belief.probability(i) < kProven &&
         belief.can_be_decided(i, kMaxRuns);
}

bool may_win(const Tune& tune, const CaseEstimator& belief, std::size_t i) {
  if (!tune.goal.busy) return belief.may_change_the_best(i);
  return belief.may_reach_goal(i) && !belief.reaches_goal(*belief.cheapest());
}

// Returns the cases that may still become the answer: all such measured ones, the most promising
// cheaper one and the most promising better one.
std::vector<std::size_t> challengers(const Tune& tune, const CaseEstimator& belief) {
  std::vector<std::size_t> result;
  std::optional<std::size_t> cheaper, better;
  const auto keep = [&](std::optional<std::size_t>& place, std::size_t i) {
    if (!place || belief.rate(i) > belief.rate(*place)) place = i;
  };
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (!is_possible(tune, i) || !belief.knows(i)) continue;
    const bool is_measured = belief.judgement().measured(i);
    const bool is_cheaper = belief.is_cheaper(i, *belief.cheapest());
    if (is_measured && is_cheaper && is_open(tune, belief, i)) result.push_back(i);
    if (!is_measured && is_cheaper && belief.may_reach_goal(i)) keep(cheaper, i);
    if (!is_measured && may_win(tune, belief, i)) keep(better, i);
  }
  if (cheaper) result.push_back(*cheaper);
  if (better && better != cheaper) result.push_back(*better);
  return result;
}

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

std::vector<std::size_t> what_to_run(const Tune& tune, const CaseEstimator& belief) {
  if (!belief.best()) return {};
  const std::vector<Case>& cases = tune.experiment.cases;
  const auto runs = [&](std::size_t i) { return cases[i].runs.size(); };
  std::vector<std::size_t> wanted;
  const auto add = [&](std::size_t i) {
    const bool is_new = std::find(wanted.begin(), wanted.end(), i) == wanted.end();
    if (is_new && is_possible(tune, i) && runs(i) < kMaxRuns) wanted.push_back(i);
  };
  const std::size_t best = *belief.best(), cheapest = *belief.cheapest();
  for (const std::size_t i : neighbours(tune, cheapest)) {
    if (runs(i) == 0) add(i);
  }
  for (const std::size_t i : challengers(tune, belief)) add(i);
  const bool continues = !wanted.empty() || is_open(tune, belief, cheapest);
  for (const std::size_t i : {best, cheapest}) {
    if (continues || runs(i) < kMinRuns) add(i);
  }
  // Not always the best one: what ran but once may leave more open.
  const auto rival = belief.judgement().strongest_rival(cheapest, tune.goal.share());
  const bool is_doubted = !tune.goal.busy && belief.probability(cheapest) < kProven;
  if (rival && is_doubted && is_open(tune, belief, cheapest)) add(*rival);
  // The best one alone, again and again, would answer nothing.
  const bool answers_something = std::any_of(wanted.begin(), wanted.end(), [&](std::size_t i) {
    return runs(i) < kMinRuns || !belief.is_cheaper(cheapest, i);
  });
  return answers_something ? wanted : std::vector<std::size_t>{};
}

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
