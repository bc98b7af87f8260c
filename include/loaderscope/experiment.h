// Experiments: one configuration with other settings, each measured in turn, round after round.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// One setting that is varied, in the order in which its values were given.
struct Axis {
  std::string key;  // the field's name, or STAGE.speed
  std::vector<std::string> values;

  bool operator==(const Axis&) const = default;
};
using Axes = std::vector<Axis>;

// How a run read its stored samples.
struct CaseReadStats {
  Nanos per_sample = 0;  // of one worker, mean
  double in_flight = 0;  // samples that workers were reading at a time, mean over the window
  double requests = 0;   // that the kernel was asked for, per sample
  double touched = 0;    // bytes that they brought, per byte of samples
};

// What is kept of one run of a case.
struct CaseRun {
  int round = 0;
  Estimate samples_per_s;
  bool has_busy = false;
  Estimate busy;
  Account account;  // the mean over ranks
  std::int64_t steps = 0, samples = 0;
  std::optional<double> cpu_s;  // of the window
  double other_cpu_s = 0;       // of other programs meanwhile; 0 where it is not known
  Bytes resident = 0;           // at the end of the window
  Bytes slots = 0, pinned = 0, shared = 0;
  Bytes of_worker = 0;                   // memory of one worker process; 0: not known
  std::optional<CaseReadStats> reading;  // of stored data
  Nanos first_batch = 0;
  Nanos took = 0;        // with its start and warm-up; virtual where the time of the run is
  std::string bound_by;  // "" when it cannot be told
  std::string withheld;  // why there is no verdict
};

struct Case {
  Changes changes;
  RunConfig config;     // values in force, unless it was skipped before it ran
  std::string skipped;  // why it cannot be run, or failed
  std::vector<CaseRun> runs;
};

// A data set that an experiment compares with others.
struct DataFacts {
  std::string data;          // as the axis has it
  bool is_packed = false;    // many samples lie in one file
  std::int64_t samples = 0;  // 0: not known
  Bytes disk = 0;            // that its files take, about
  Nanos index = 0;           // until it is known where every sample lies, without a kept index
};

// What it takes to make shards of the first of them, measured on some of its samples.
struct Repacking {
  std::int64_t samples = 0;  // packed
  Nanos took = 0;
  Nanos of_all = 0;  // that all samples would take
};

struct Experiment {
  RunConfig base;  // as given, not resolved
  Axes axes;
  bool one_at_a_time = false;
  std::vector<Case> cases;
  Nanos spent = 0;
  bool interrupted = false;
  bool budget_spent = false;    // with work left
  std::vector<DataFacts> data;  // where the data is what varies
  std::optional<Repacking> repacking;
  std::vector<std::string> notes;  // of the machine, and of what happened between the cases
};

// All cases of the axes on top of `base`, resolved; a case that cannot be is skipped with its
// reason. Throws UsageError where all are refused for the same one.
Experiment plan_experiment(const RunConfig& base, const Axes& axes, bool one_at_a_time,
                           const MachineLimits& limits);

// The world around an experiment. Tests hand in others.
struct ExperimentContext {
  std::function<RunRecord(const RunConfig&)> run;  // throws UsageError and RunError
  std::function<Nanos()> now;                      // of the clock that the budget is of
  std::function<bool()> stopped;                   // true: end, keep what is there
  std::function<void(const Experiment&, Nanos budget)> after_run;  // may be empty
};

struct SweepOptions {
  Nanos budget = 2 * 60 * kSecond;
  double precision = 0.03;  // of a rate: half the width of its interval
  std::uint64_t seed = 0;
};

// Runs what is missing: all cases in random order, round after round, each until its interval is
// narrow enough, or the budget is spent. Throws UsageError when the budget is too short for one
// case.
void run_sweep(Experiment& experiment, const ExperimentContext& context,
               const SweepOptions& options);

// What a sweep says. Indexes are those of the cases.
struct SweepAnswer {
  std::vector<std::optional<Estimate>> rate, busy;  // nothing without a run
  std::optional<std::size_t> best;
  std::optional<std::size_t> knee;  // the cheapest whose interval reaches within 3 % of the best
};
SweepAnswer judge_sweep(const Experiment& experiment);

// Why no case could be run: the commonest reason, of those that the cases have or of `others`. ""
// when one was.
std::string reason_for_nothing(const Experiment& experiment,
                               const std::vector<std::string>& others = {});

}  // namespace loaderscope
