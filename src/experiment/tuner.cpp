// The search: a probe of each stratum, its model for all of the grid, and runs of what could be the
// answer.
#include <algorithm>
#include <map>

#include "experiment/belief.h"
#include "experiment/case_run.h"
#include "experiment/tune.h"
#include "experiment/tuner_parts.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr int kMostTuneRounds = 30;
constexpr double kMayWell = 0.25;  // probability from which on a case is named that is not proven
constexpr Nanos kRunsOfBudget = 40;
constexpr Nanos kShortest = kSecond / 2;  // of one run
constexpr Nanos kLongest = 10 * kSecond;

class Tuner {
 public:
  Tuner(Experiment experiment, const ExperimentContext& context, const TuneOptions& options,
        const FitForecaster& fit)
      : options_(options), fit_(fit), context_(context) {
    tune_.experiment = std::move(experiment);
    tune_.goal = options.goal;
    tune_.candidates.resize(tune_.experiment.cases.size());
    length_ =
        std::clamp(options.budget / kRunsOfBudget, std::min(kShortest, options.budget), kLongest);
    length_of_grid_ = std::min(length_, length_of_sweep(options.budget, cases().size()));
    runner_.emplace(tune_.experiment, context_, length_, options.budget);
  }

  Tune run() {
    refuse_what_does_not_fit(0);
    probe_and_predict();
    for (int round = 1; round < kMostTuneRounds && !is_over(); ++round) {
      const std::vector<std::size_t> wanted = what_to_run(tune_, Belief(tune_));
      if (wanted.empty()) break;
      for (const std::size_t i : wanted) {
        if (!is_over()) run_case(i, round);
      }
    }
    decide();
    return std::move(tune_);
  }

 private:
  std::vector<Case>& cases() { return tune_.experiment.cases; }
  bool is_over() const {
    return runner_->stopped() || tune_.experiment.interrupted || tune_.experiment.budget_spent ||
           tune_.grid_spent;
  }
  void refuse_what_does_not_fit(Bytes private_bytes) {
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (is_possible(tune_, i) && cases()[i].runs.empty())
        tune_.candidates[i].refused = reason_not_to_run(cases()[i].config, options_, private_bytes);
    }
  }

  // --- probes ---

  void probe_and_predict() {
    const std::vector<std::size_t> strata = strata_of(cases());
    std::size_t count = 0;
    for (std::size_t i = 0; i < strata.size(); ++i) {
      tune_.candidates[i].stratum = strata[i];
      count = std::max(count, strata[i] + 1);
    }
    Bytes private_bytes = 0;
    for (std::size_t stratum = 0; stratum < count && !is_over(); ++stratum) {
      const std::optional<std::size_t> probe = probe_of(stratum);
      if (!probe) continue;
      run_case(*probe, 0);
      if (cases()[*probe].runs.empty()) {
        skip_stratum(stratum, cases()[*probe].skipped);
        continue;
      }
      private_bytes =
          std::max(private_bytes, private_bytes_of(cases()[*probe], options_.resident_before));
      predict(stratum, *probe);
    }
    refuse_what_does_not_fit(private_bytes);
  }

  // As many workers as there are cores, and a window that is neither the deepest nor the
  // shallowest.
  std::optional<std::size_t> probe_of(std::size_t stratum) {
    std::optional<std::size_t> best;
    const auto strangeness = [&](std::size_t i) {
      const RunConfig& config = cases()[i].config;
      const auto cores = static_cast<std::int64_t>(config.declared.cores);
      return std::pair(std::abs(config.loader.num_workers * config.trainer.ranks -
                                std::max<std::int64_t>(1, cores)),
                       std::abs(config.loader.prefetch_factor - 2));
    };
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (tune_.candidates[i].stratum != stratum || !is_possible(tune_, i)) continue;
      if (!best || strangeness(i) < strangeness(*best)) best = i;
    }
    return best;
  }

  // What stops the probe stops its neighbours too.
  void skip_stratum(std::size_t stratum, const std::string& reason) {
    if (reason.empty()) return;
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (tune_.candidates[i].stratum == stratum && cases()[i].skipped.empty())
        cases()[i].skipped = reason;
    }
  }

  void no_prediction(const std::string& why) {
    tune_.experiment.notes.push_back("no prediction: " + why);
  }

  void predict(std::size_t stratum, std::size_t probe) {
    Forecaster& forecast = forecasters_[stratum];
    try {
      forecast = fit_(records_.at(probe));
    } catch (const RunError& error) {
      return no_prediction(error.what());
    } catch (const UsageError& error) {
      return no_prediction(error.what());
    }
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (tune_.candidates[i].stratum != stratum || !is_possible(tune_, i)) continue;
      try {
        tune_.candidates[i].predicted = forecast(predictable(cases()[i].changes));
      } catch (const UsageError& error) {
        cases()[i].skipped = error.what();
      } catch (const RunError&) {
        // It can be run nonetheless.
      }
    }
  }

  // --- rounds ---

  Nanos step_of(std::size_t i, const Belief& belief) const {
    if (!belief.knows(i)) return 0;
    const RunConfig& config = tune_.experiment.cases[i].config;
    return static_cast<Nanos>(1e9 *
                              static_cast<double>(config.loader.batch_size * config.trainer.ranks) /
                              belief.rate(i));
  }

  void run_case(std::size_t i, int round) {
    Case& one = cases()[i];
    const Belief belief(tune_);
    const Nanos step = one.runs.empty() ? step_of(i, belief) : 0;
    const Nanos expected = one.runs.empty() ? std::max(length_, step * fewest_steps(one.config))
                                            : runner_->next_run(one);
    tune_.experiment.budget_spent = runner_->left() < expected;
    // A grid of a case or two takes no longer than its first runs, which there must be.
    const Nanos limit = time_of_grid(tune_, belief, *runner_, length_of_grid_);
    tune_.grid_spent = round > 0 && tune_.experiment.spent + expected > limit;
    if (tune_.experiment.budget_spent || tune_.grid_spent) return;
    std::optional<RunRecord> record = runner_->run(one, round, step);
    if (record) records_.insert_or_assign(i, std::move(*record));
    if (runner_->stopped()) tune_.experiment.interrupted = true;
  }

  // --- the answer ---

  void decide() {
    const Belief belief(tune_);
    const Judgement& judgement = belief.judgement();
    tune_.best = judgement.best();
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (!judgement.measured(i) || belief.probability(i) < kProven) continue;
      if (cases()[i].runs.size() < kFewestRuns) continue;
      if (!tune_.recommended || belief.is_cheaper(i, *tune_.recommended)) tune_.recommended = i;
    }
    tune_.proven = tune_.recommended.has_value() && !has_unseen_rivals(belief);
    if (!tune_.recommended) tune_.recommended = fallback(belief);
    if (tune_.recommended) {
      tune_.probability = belief.probability(*tune_.recommended);
      tune_.goal_reached = tune_.proven || belief.reaches_goal(*tune_.recommended) ||
                           may_reach_goal(belief, *tune_.recommended);
    }
    tune_.grid_time = time_of_grid(tune_, belief, *runner_, length_);
    explain(tune_, belief, forecasters_, records_);
  }

  // Cases that should have run and did not.
  bool has_unseen_rivals(const Belief& belief) {
    const std::vector<std::size_t> open = what_to_run(tune_, belief);
    return std::any_of(open.begin(), open.end(),
                       [&](std::size_t i) { return cases()[i].runs.empty(); });
  }

  // As far as runs say, and no other case is believed to set a higher mark.
  bool may_reach_goal(const Belief& belief, std::size_t i) {
    return tune_.goal.busy ? !belief.is_ruled_out(i) : !has_unseen_rivals(belief);
  }

  // Nothing is proven: the cheapest that may well reach the goal, else the best. What is nearly
  // ruled out is no answer, though more runs might have shown that it is one.
  std::optional<std::size_t> fallback(const Belief& belief) {
    std::optional<std::size_t> result;
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (!belief.judgement().measured(i) || belief.chance(i) < kMayWell) continue;
      if (!result || belief.is_cheaper(i, *result)) result = i;
    }
    return result ? result : tune_.best;
  }

  TuneOptions options_;
  const FitForecaster& fit_;
  const ExperimentContext& context_;
  Nanos length_ = 0, length_of_grid_ = 0;  // of a run, here and in the plain grid
  Tune tune_;
  std::optional<CaseRunner> runner_;
  std::map<std::size_t, Forecaster> forecasters_;  // by stratum
  std::map<std::size_t, RunRecord> records_;       // the last run of each case
};

}  // namespace

Tune tune(Experiment experiment, const ExperimentContext& context, const TuneOptions& options,
          const FitForecaster& fit) {
  return Tuner(std::move(experiment), context, options, fit).run();
}

std::string reason_for_nothing(const Tune& tune) {
  std::vector<std::string> refused;
  for (const TunedCase& candidate : tune.candidates) {
    if (!candidate.refused.empty()) refused.push_back(candidate.refused);
  }
  return reason_for_nothing(tune.experiment, refused);
}

}  // namespace loaderscope
