// The search: a probe of each stratum, its model for all of the grid, and runs of what could be the
// answer.
#include <algorithm>
#include <map>

#include "experiment/case_run.h"
#include "experiment/tune.h"
#include "experiment/tuner_parts.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr int kMaxTuneRounds = 30;
constexpr Nanos kRunsOfBudget = 40;
constexpr Nanos kShortest = kSecond / 2;  // length of one run
constexpr Nanos kMaxLength = 10 * kSecond;

class Tuner {
 public:
  Tuner(Experiment experiment, const ExperimentContext& context, const TuneOptions& options,
        const FitForecaster& fit)
      : options_(options), fit_(fit), context_(context) {
    tune_.experiment = std::move(experiment);
    tune_.goal = options.goal;
    tune_.candidates.resize(tune_.experiment.cases.size());
    length_ =
        std::clamp(options.budget / kRunsOfBudget, std::min(kShortest, options.budget), kMaxLength);
    length_of_grid_ = std::min(length_, length_of_sweep(options.budget, cases().size()));
    runner_.emplace(tune_.experiment, context_, length_, options.budget);
  }

  Tune run() {
    refuse_what_does_not_fit();
    if (options_.with_now) measure_now();
    probe_and_predict();
    grow(true);
    for (int round = 1; round < kMaxTuneRounds && !is_over(); ++round) {
      grow(false);
      const std::vector<std::size_t> wanted = what_to_run(tune_, CaseEstimator(tune_));
      if (wanted.empty()) break;
      for (const std::size_t i : wanted) {
        if (!is_over()) run_case(i, round);
      }
    }
    conclude();
    return std::move(tune_);
  }

 private:
  std::vector<Case>& cases() { return tune_.experiment.cases; }
  bool is_over() const {
    return runner_->stopped() || tune_.experiment.interrupted || tune_.experiment.budget_spent ||
           tune_.grid_spent;
  }
  void refuse_what_does_not_fit() {
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (is_possible(tune_, i) && cases()[i].runs.empty())
        tune_.candidates[i].refused =
            reason_not_to_run(cases()[i].config, options_, private_bytes_);
    }
  }

  // Runs first, so that the answer can compare with it.
  void measure_now() {
    tune_.now = add_present(tune_, options_.limits);
    refuse_what_does_not_fit();
    if (!is_possible(tune_, *tune_.now)) return;
    run_case(*tune_.now, 0);
    const auto record = records_.find(*tune_.now);
    if (record == records_.end() || !record->second.loaders.empty()) return;
    const std::optional<std::size_t> same = like_present(tune_, *tune_.now);
    if (!same) return;
    cases()[*same].runs = std::move(cases().back().runs);
    records_.insert_or_assign(*same, std::move(record->second));
    records_.erase(*tune_.now);
    cases().pop_back();
    tune_.candidates.pop_back();
    tune_.now = same;
  }

  // --- probes ---

  std::size_t number_strata() {
    const std::vector<std::size_t> strata = predictable_groups(cases());
    std::size_t count = 0;
    for (std::size_t i = 0; i < strata.size(); ++i) {
      tune_.candidates[i].stratum = strata[i];
      count = std::max(count, strata[i] + 1);
    }
    return count;
  }

  void probe_and_predict() {
    const std::size_t count = number_strata();
    for (std::size_t stratum = 0; stratum < count && !is_over(); ++stratum) {
      const std::optional<std::size_t> probe = find_probe(stratum);
      if (!probe) continue;
      if (cases()[*probe].runs.empty()) run_case(*probe, 0);
      if (cases()[*probe].runs.empty()) {
        skip_stratum(stratum, cases()[*probe].skipped);
        continue;
      }
      private_bytes_ = std::max(private_bytes_,
                                estimate_private_bytes(cases()[*probe], options_.resident_before));
      fit(stratum, *probe);
      predict(stratum);
    }
    refuse_what_does_not_fit();
  }

  // Extends an axis. `unseen`: also if no case at the end of the axis has run.
  void grow(bool unseen) {
    if (!options_.grows || is_over()) return;
    const auto beyond = expected_beyond(tune_, CaseEstimator(tune_), forecasters_);
    if (!beyond || !(unseen || has_run_at_end(tune_, beyond->change.key))) return;
    if (!extend_axis(tune_, beyond->change.key, options_)) return;
    if (!records_.empty()) {
      const auto& [ran, record] = *records_.begin();
      adopt_loader(tune_.experiment, record.config, cases()[ran].changes);
    }
    number_strata();
    for (const auto& [stratum, forecast] : forecasters_) predict(stratum);
    refuse_what_does_not_fit();
  }

  // Chooses as many workers as there are cores, and a prefetch factor near 2, between the extremes.
  std::optional<std::size_t> find_probe(std::size_t stratum) {
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

  // A failure of the probe applies to its neighbours, too.
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

  void fit(std::size_t stratum, std::size_t probe) {
    try {
      forecasters_[stratum] = fit_(records_.at(probe));
    } catch (const RunError& error) {
      no_prediction(error.what());
    } catch (const UsageError& error) {
      no_prediction(error.what());
    }
  }

  // Predicts the cases of the stratum that have no prediction yet.
  void predict(std::size_t stratum) {
    const Forecaster& forecast = forecasters_[stratum];
    if (!forecast) return;
    for (std::size_t i = 0; i < cases().size(); ++i) {
      if (tune_.candidates[i].stratum != stratum || !is_possible(tune_, i)) continue;
      if (tune_.candidates[i].predicted) continue;
      try {
        tune_.candidates[i].predicted = forecast(predictable(cases()[i].changes));
      } catch (const UsageError& error) {
        cases()[i].skipped = error.what();
      } catch (const RunError&) {
        // A case without a prediction can still run.
      }
    }
  }

  // --- rounds ---

  Nanos step_time(std::size_t i, const CaseEstimator& belief) const {
    if (!belief.knows(i)) return 0;
    const RunConfig& config = tune_.experiment.cases[i].config;
    return static_cast<Nanos>(1e9 *
                              static_cast<double>(config.loader.batch_size * config.trainer.ranks) /
                              belief.rate(i));
  }

  void run_case(std::size_t i, int round) {
    Case& one = cases()[i];
    const CaseEstimator belief(tune_);
    const Nanos step = one.runs.empty() ? step_time(i, belief) : 0;
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

  void conclude() {
    const CaseEstimator belief(tune_);
    decide(tune_, belief);
    if (tune_.now && cases()[*tune_.now].runs.empty()) tune_.now.reset();
    tune_.grid_time = time_of_grid(tune_, belief, *runner_, length_);
    tune_.beyond = expected_beyond(tune_, belief, forecasters_);
    if (tune_.beyond)
      tune_.beyond->left_out = why_left_out(tune_, tune_.beyond->change, options_, private_bytes_);
    explain(tune_, belief, forecasters_, records_);
  }

  TuneOptions options_;
  const FitForecaster& fit_;
  const ExperimentContext& context_;
  Nanos length_ = 0, length_of_grid_ = 0;  // length of a run, here and in the plain grid
  Tune tune_;
  std::optional<CaseRunner> runner_;
  Bytes private_bytes_ = 0;  // measured memory of a worker
  Forecasters forecasters_;
  std::map<std::size_t, RunRecord> records_;  // the last run of each case
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
