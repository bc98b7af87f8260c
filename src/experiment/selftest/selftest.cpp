#include "experiment/selftest/selftest.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"
#include "loaderscope/analysis.h"
#include "loaderscope/errors.h"

namespace loaderscope::selftest {
namespace {

// Seconds of stall per step of one rank.
PerCause<double> stall_per_step(const RunRecord& record) {
  const RankRecord& rank = record.ranks.front();
  if (rank.steps() <= 0) {
    throw RunError("selftest: a run ended without a measured step",
                   "give more --data, at least 20 images");
  }
  const Account account = rank_account(rank);
  PerCause<double> stall{};
  for (const auto& word : Words<Cause>::table()) {
    stall[word.value] = seconds(account.stall[word.value]) / static_cast<double>(rank.steps());
  }
  return stall;
}

class Selftest {
 public:
  Selftest(const std::vector<Trial>& trials, const Options& options, const World& world)
      : trials_(trials), options_(options), world_(world), begin_(world.now()) {
    for (const Trial& trial : trials) {
      planned_ += options.rounds * (1 + static_cast<std::int64_t>(trial.delays.size()));
      for (const Delay& delay : trial.delays)
        recoveries_.push_back({trial.pipeline, delay.stage, seconds(delay.per_step), {}});
    }
  }

  Result run() {
    warm_up();
    for (std::int64_t round = 0; round < options_.rounds && may_continue(round); ++round) {
      run_round([](const Recovery&) { return true; });
    }
    longest_round_ = 0;  // the next rounds are shorter
    for (std::int64_t round = options_.rounds; round < options_.most_rounds; ++round) {
      if (!may_continue(round) || all_found()) break;
      run_round([](const Recovery& recovery) { return !recovery.found(); });
    }
    return result();
  }

 private:
  // The first runs on images read and fault in what later ones find there.
  void warm_up() {
    for (const Trial& trial : trials_) {
      if (trial.real && !interrupted_) measure(trial.base);
    }
  }

  bool may_continue(std::int64_t round) const {
    return !interrupted_ &&
           (round == 0 || world_.now() - begin_ + longest_round_ <= options_.budget);
  }

  bool all_found() const {
    return std::all_of(recoveries_.begin(), recoveries_.end(),
                       [](const Recovery& recovery) { return recovery.found(); });
  }

  template <class Wanted>
  void run_round(const Wanted& wanted) {
    const Nanos begin = world_.now();
    std::size_t first = 0;  // index of the trial's first recovery
    for (const Trial& trial : trials_) {
      run_trial(trial, first, wanted);
      first += trial.delays.size();
    }
    longest_round_ = std::max(longest_round_, world_.now() - begin);
  }

  template <class Wanted>
  void run_trial(const Trial& trial, std::size_t first, const Wanted& wanted) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < trial.delays.size(); ++i) {
      if (wanted(recoveries_[first + i])) chosen.push_back(i);
    }
    if (chosen.empty() || interrupted_) return;
    const PerCause<double> base = measure_base(trial);
    for (const std::size_t i : chosen) {
      if (interrupted_) return;
      const PerCause<double> delayed = measure(trial.delays[i].config);
      if (!interrupted_) add(recoveries_[first + i], base, delayed);
    }
  }

  static void add(Recovery& recovery, const PerCause<double>& base,
                  const PerCause<double>& delayed) {
    PerCause<double> growth{};
    for (std::size_t i = 0; i < kCauses; ++i) growth.at(i) = delayed.at(i) - base.at(i);
    recovery.growth.push_back(growth);
  }

  PerCause<double> measure_base(const Trial& trial) {
    const PerCause<double> stall = measure(trial.base);
    if (interrupted_) return stall;
    const RankRecord& rank = last_.ranks.front();
    window_s_ += seconds(rank.window());
    contention_s_ += stall[Cause::contention] * static_cast<double>(rank.steps());
    return stall;
  }

  // Results of an interrupted run do not count.
  PerCause<double> measure(const RunConfig& config) {
    last_ = world_.run(config);
    interrupted_ = last_.interrupted;
    ++runs_;
    if (world_.on_progress) {
      const double fraction = static_cast<double>(runs_) / static_cast<double>(planned_);
      world_.on_progress(runs_, std::min(fraction, 1.0));
    }
    return interrupted_ ? PerCause<double>{} : stall_per_step(last_);
  }

  Result result() {
    Result result;
    result.engine = last_.engine;
    for (Recovery& recovery : recoveries_) {
      if (!recovery.growth.empty()) result.stages.push_back(std::move(recovery));
    }
    result.contention = window_s_ > 0 ? contention_s_ / window_s_ : 0;
    result.wall = world_.now() - begin_;
    result.interrupted = interrupted_;
    return result;
  }

  const std::vector<Trial>& trials_;
  const Options& options_;
  const World& world_;
  Nanos begin_, longest_round_ = 0;
  std::vector<Recovery> recoveries_;
  RunRecord last_;
  std::int64_t planned_ = 0, runs_ = 0;
  double window_s_ = 0, contention_s_ = 0;  // sums over the base runs
  bool interrupted_ = false;
};

double distance(const Recovery& recovery) { return std::abs(recovery.share() - 1); }

}  // namespace

double Recovery::median_growth(Cause which) const {
  std::vector<double> values;
  for (const PerCause<double>& round : growth) values.push_back(round[which]);
  return find_median(std::move(values));
}

bool Recovery::found() const { return std::abs(share() - 1) <= kTolerance + 1e-9; }

const Recovery* Result::worst() const {
  const auto at = std::max_element(
      stages.begin(), stages.end(),
      [](const Recovery& a, const Recovery& b) { return distance(a) < distance(b); });
  return at == stages.end() ? nullptr : &*at;
}

std::vector<const Recovery*> Result::not_found() const {
  std::vector<const Recovery*> missing;
  for (const Recovery& recovery : stages) {
    if (!recovery.found()) missing.push_back(&recovery);
  }
  return missing;
}

Result run_selftest(const std::vector<Trial>& trials, const Options& options, const World& world) {
  return Selftest(trials, options, world).run();
}

}  // namespace loaderscope::selftest
