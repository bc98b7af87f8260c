#include "experiment/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "experiment/case_run.h"
#include "experiment/settings.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "predict/fitted_model.h"
#include "predict/proof_runs.h"

namespace loaderscope {
namespace {

constexpr int kRounds = 5;
constexpr int kRoundsOfProgram = 4;       // fewer, as it starts again for each run
constexpr int kMinTrialRounds = 3;        // fewer give no interval
constexpr Nanos kEndOfRun = kSecond / 2;  // time from the end of the window to the exit
constexpr std::int64_t kMinEpochs = 2;    // least number if the begin of epochs is blamed

ProofRun make_run(double samples_per_s, const Account& account) {
  if (account.window == 0) return {};
  return {samples_per_s,
          static_cast<double>(account.compute) / static_cast<double>(account.window)};
}

ProofRun make_run(const RunRecord& record) {
  std::vector<Account> accounts;
  double samples_per_s = 0;
  for (const RankRecord& rank : record.ranks) {
    accounts.push_back(rank_account(rank));
    if (rank.steps() > 0 && rank.window() > 0)
      samples_per_s += static_cast<double>(rank.samples) / seconds(rank.window());
  }
  return make_run(samples_per_s, mean_account(accounts));
}

bool changes(const ProofCase& tried, std::string_view key) {
  return std::any_of(tried.changes.begin(), tried.changes.end(),
                     [&](const Change& change) { return change.key == key; });
}

// Settings that a case could not be run with need no steps.
std::int64_t min_steps(const RunRecord& first, const ProofCase& tried) {
  try {
    return fewest_steps(rerun_config(first.config, tried.changes));
  } catch (const UsageError&) {
    return 0;
  } catch (const RunError&) {
    return 0;
  }
}

int count_rounds(const RunRecord& first, const Proof& proof) {
  if (proof.exact) return 1;
  return first.config.program.command.given ? kRoundsOfProgram : kRounds;
}

// The steps of a run of a round: all rounds together have about as many as the first run, and each
// has enough of them. They are the same steps of the data set in every run, in the prediction too.
std::int64_t steps_of_run(const RunRecord& first, const Proof& proof) {
  const RankRecord& rank = first.ranks.front();
  if (proof.exact) return std::max<std::int64_t>(rank.steps(), 1);
  std::int64_t fewest = fewest_steps(first.config);
  for (const ProofCase& tried : proof.cases) fewest = std::max(fewest, min_steps(first, tried));
  const std::int64_t epochs = rank.rows.back().epoch;
  const bool blames_epochs =
      std::any_of(proof.cases.begin(), proof.cases.end(),
                  [](const ProofCase& tried) { return changes(tried, "persistent-workers"); });
  if (blames_epochs && epochs > 0)
    fewest = std::max(fewest, (rank.warmup_steps + rank.steps()) / epochs * kMinEpochs);
  return std::clamp<std::int64_t>(std::max(rank.steps() / count_rounds(first, proof), fewest), 1,
                                  std::max<std::int64_t>(rank.steps(), 1));
}

Nanos whole_seconds(Nanos time) { return (time + kSecond - 1) / kSecond * kSecond; }

std::string format_whole_seconds(Nanos time) {
  return fmt::format("{} s", whole_seconds(time) / kSecond);
}

class Prover {
 public:
  Prover(Proof proof, const RunRecord& first, const Analysis& analysis, const Measure& measure,
         const MeasureTurns& measure_turns, const std::atomic<int>& stop_signal, double past_error,
         const Trial& trial)
      : proof_(std::move(proof)),
        first_(first),
        analysis_(analysis),
        measure_(measure),
        measure_turns_(measure_turns),
        stop_signal_(stop_signal),
        trial_(trial),
        error_(past_error) {
    steps_ = steps_of_run(first, proof_);
  }

  Proof run() {
    predict();
    if (proof_.alternates) return run_turns();
    const int rounds = continues() ? planned_rounds() : 0;
    const Nanos begin = now();
    for (int round = 0; round < rounds && continues() && has_time(begin, round); ++round)
      run_round(round);
    return std::move(proof_);
  }

 private:
  bool continues() const {
    const bool can_run = std::any_of(proof_.cases.begin(), proof_.cases.end(),
                                     [](const ProofCase& tried) { return tried.missing.empty(); });
    return can_run && !proof_.interrupted && proof_.reason.empty();
  }
  bool has_limit() const {
    return proof_.asked == Prove::fix && !proof_.exact && trial_.budget > 0;
  }
  Nanos now() const { return trial_.now ? trial_.now() : 0; }

  // Returns true if another round of the mean length so far ends within the budget.
  bool has_time(Nanos begin, int rounds_done) const {
    if (!has_limit() || rounds_done == 0) return true;
    const Nanos spent = now() - begin;
    return spent + spent / rounds_done <= trial_.budget;
  }

  // Estimated from the first run.
  Nanos time_of_run() const {
    const RankRecord& rank = first_.ranks.front();
    const std::int64_t steps = std::max<std::int64_t>(rank.steps(), 1);
    return trial_.start + rank.window() / steps * steps_ + kEndOfRun;
  }

  // Number of rounds that fit into the budget. If they are too few, sets the reason and returns 0.
  int planned_rounds() {
    int rounds = count_rounds(first_, proof_);
    if (proof_.asked != Prove::fix || proof_.exact) return rounds;
    const auto runs_of_round = static_cast<std::int64_t>(proof_.cases.size()) + 1;
    const Nanos round_time = time_of_run() * runs_of_round;
    if (has_limit())
      rounds = std::clamp(static_cast<int>(std::min<Nanos>(trial_.budget / round_time, rounds)),
                          kMinTrialRounds, rounds);
    if (has_limit() && rounds * round_time > trial_.budget) {
      proof_.reason =
          fmt::format("{} runs of about {} each do not fit into {}; --budget {} or more would do",
                      kMinTrialRounds * runs_of_round, format_whole_seconds(time_of_run()),
                      format_whole_seconds(trial_.budget),
                      duration_to_text(whole_seconds(rounds * round_time)));
      return 0;
    }
    if (trial_.announce)
      trial_.announce(
          {proof_.cases.front().changes, rounds * runs_of_round, steps_, rounds * round_time});
    return rounds;
  }

  bool stopped() const { return stop_signal_.load() != 0; }
  bool has_base() const { return proof_.asked != Prove::all; }

  // Measures without a prediction if the record is insufficient for one.
  void predict() {
    try {
      const FittedModel model(first_, &stop_signal_);
      const double fitted = model.fitted().samples_per_s;
      const double measured = make_run(first_).samples_per_s;
      if (measured > 0) error_ = std::max(error_, std::abs(fitted / measured - 1));
      if (proof_.asked == Prove::fix) {
        for (ProofCase& tried : proof_.cases) predict_fix(model, tried);
        return;
      }
      const Prediction base = model.predict_steps({}, steps_);
      plan_warmup(proof_.base, base);
      for (ProofCase& tried : proof_.cases) try_to_predict(model, base, tried);
    } catch (const RunError& error) {
      no_prediction(error.what());
    } catch (const UsageError& error) {
      no_prediction(error.what());
    }
  }

  void no_prediction(const std::string& why) {
    proof_.interrupted = stopped();
    if (!proof_.interrupted && proof_.asked == Prove::blamed) proof_.reason = why;
  }

  // A change that the model refuses, such as a too large window, cannot be run either.
  void try_to_predict(const FittedModel& model, const Prediction& base, ProofCase& tried) {
    try {
      predict(model, base, tried);
    } catch (const UsageError& error) {
      tried.missing = error.what();
    }
  }

  // One change has one number, so this is the prediction of the answer.
  void predict_fix(const FittedModel& model, ProofCase& tried) {
    if (!tried.missing.empty()) return;
    try {
      const Finding* fix = advised_fix(analysis_);
      const Prediction after = model.predict(fix != nullptr ? fix->changes : tried.changes);
      if (proof_.exact)
        windows_ = {{&proof_.base, after.base_measure}, {&tried, after.config.measure}};
      if (after.is_known()) tried.predicted = predicted_fix(after);
    } catch (const UsageError& error) {
      tried.missing = error.what();
    }
  }

  // A run in virtual time gives exactly the prediction. Other gains refer to the measured rate.
  ProofPrediction predicted_fix(const Prediction& after) const {
    if (proof_.exact)
      return {{after.base_samples_per_s, after.base_busy},
              make_run(after.samples_per_s, after.account),
              error_};
    const ScaledPrediction promise = scale_prediction(analysis_, after);
    return {{promise.rate_before, promise.busy_before},
            {promise.rate_after, promise.busy_after},
            std::max(error_, after.may_be_off)};
  }

  void predict(const FittedModel& model, const Prediction& base, ProofCase& tried) {
    if (!tried.missing.empty() || changes(tried, "cache")) return;
    const Prediction after = model.predict_steps(tried.changes, steps_, tried.knockouts);
    plan_warmup(tried, after);
    if (base.samples_per_s <= 0 || after.samples_per_s <= 0) return;
    tried.predicted = ProofPrediction{make_run(base.samples_per_s, base.account),
                                      make_run(after.samples_per_s, after.account), error_};
  }

  void plan_warmup(const ProofCase& tried, const Prediction& prediction) {
    warmups_.emplace_back(&tried, prediction.config.measure.warmup);
  }

  RunConfig case_config(const ProofCase& tried) const {
    RunConfig config = rerun_config(first_.config, tried.changes);
    config.measure.hook_cost.value = false;  // the first run has measured it
    for (const auto& [planned, window] : windows_) {
      if (planned != &tried) continue;
      config.measure = window;
      return config;
    }
    config.measure.warmup.set(case_warmup(tried, config));
    config.measure.steps.set(steps_);
    config.measure.duration.given = false;
    return config;
  }

  // Uses the warm-up of the model's run, or one that fills the window once.
  WarmUp case_warmup(const ProofCase& tried, const RunConfig& config) const {
    for (const auto& [planned, warmup] : warmups_)
      if (planned == &tried) return warmup;
    WarmUp warmup = config.measure.warmup;
    if (warmup.duration == 0 && config.loader.executor != Executor::inline_)
      warmup.steps =
          std::max(warmup.steps, config.loader.num_workers * config.loader.prefetch_factor);
    return warmup;
  }

  // A fix and the base case take turns as in ABBA: a machine that gets slower does so for both.
  void run_round(int round) {
    const bool base_last = proof_.asked == Prove::fix && round % 2 == 1;
    if (!base_last && !run_base()) return;
    // The cold cache comes first: it warms the cache for the cases after it.
    for (auto tried = proof_.cases.rbegin(); tried != proof_.cases.rend(); ++tried) {
      if (!run_case(*tried)) return;
    }
    if (base_last) run_base();
  }

  // False when all is over.
  bool run_base() {
    if (has_base() && !run_case(proof_.base)) return false;
    if (proof_.base.missing.empty()) return true;
    proof_.reason = "the base case could not be run again: " + proof_.base.missing;
    return false;
  }

  // All rounds are one run.
  Proof run_turns() {
    ProofCase& replayed = proof_.cases.front();
    if (proof_.interrupted || !proof_.reason.empty() || !replayed.missing.empty())
      return std::move(proof_);
    constexpr double kUsualGain = 4;
    const double gain = replayed.predicted ? replayed.predicted->gain() : kUsualGain;
    const ReplaySchedule turns =
        plan_turns(first_, steps_, fewest_steps(first_.config), gain, replayed.missing);
    if (!replayed.missing.empty()) return std::move(proof_);
    try {
      take_turns(measure_turns_(case_config(turns), turns), turns);
    } catch (const RunError& error) {
      replayed.missing = error.what();
    }
    proof_.interrupted = stopped();
    return std::move(proof_);
  }

  void take_turns(const RunRecord& record, const ReplaySchedule& turns) {
    TurnRuns runs = runs_of_turns(record, turns);
    ProofCase& replayed = proof_.cases.front();
    ProofCase& base = has_base() ? proof_.base : proof_.cases.back();
    replayed.runs = std::move(runs.replay);
    base.runs = std::move(runs.loader);
    if (base.runs.empty() && !stopped())
      replayed.missing = "the program ended before it had trained on delivered batches";
  }

  RunConfig case_config(const ReplaySchedule& turns) const {
    RunConfig config = rerun_config(first_.config, {});
    config.measure.hook_cost.value = false;
    config.measure.warmup.set({turns.lead, 0});
    config.measure.steps.set(turns.all() - turns.lead);
    config.measure.duration.given = false;
    return config;
  }

  // False when all is over.
  bool run_case(ProofCase& tried) {
    if (!tried.missing.empty()) return true;
    if (stopped()) return end();
    try {
      const RunRecord record = measure_(case_config(tried), tried.knockouts);
      if (record.interrupted || stopped()) return end();
      take(record, tried);
    } catch (const RunError& error) {
      if (stopped()) return end();
      tried.missing = error.what();
    } catch (const UsageError& error) {
      tried.missing = error.what();
    }
    if (!tried.missing.empty()) tried.runs.clear();
    return true;
  }

  bool end() {
    proof_.interrupted = true;
    return false;
  }

  void take(const RunRecord& record, ProofCase& tried) const {
    const ProofRun run = make_run(record);
    if (changes(tried, "cache")) tried.missing = cache_not_proved(record);
    if (run.samples_per_s <= 0) tried.missing = "a step takes no time any more";
    tried.runs.push_back(run);
  }

  static std::string cache_not_proved(const RunRecord& record) {
    const auto value = [&](std::string_view name) {
      return value_of(record.metrics, name).value_or(0);
    };
    if (value(metric::cache_proved) > 0) return "";
    return fmt::format("not proved: {:.1f} % of the bytes looked at were in the page cache",
                       100 * value(metric::cache_resident_bytes) /
                           std::max(value(metric::cache_checked_bytes), 1.0));
  }

  Proof proof_;
  const RunRecord& first_;
  const Analysis& analysis_;
  const Measure& measure_;
  const MeasureTurns& measure_turns_;
  const std::atomic<int>& stop_signal_;
  const Trial& trial_;
  std::int64_t steps_ = 0;  // steps of every run
  double error_;            // error of the model: on the first run, or in the past if that is
                            // larger
  std::vector<std::pair<const ProofCase*, WarmUp>> warmups_;
  std::vector<std::pair<const ProofCase*, MeasureConfig>> windows_;  // a fix in virtual time
};

}  // namespace

Proof prove(Prove asked, const RunRecord& first, const Analysis& analysis, const Measure& measure,
            const MeasureTurns& measure_turns, const std::atomic<int>& stop_signal,
            const Trial& trial) {
  Proof proof = plan_proof(asked, first, analysis);
  if (!proof.reason.empty()) return proof;
  const double error = proof.exact ? 0 : analysis.past.bound().value_or(0);
  return Prover(std::move(proof), first, analysis, measure, measure_turns, stop_signal, error,
                trial)
      .run();
}

}  // namespace loaderscope
