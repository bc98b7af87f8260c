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

// Statistics of how a run read its stored samples.
struct CaseReadStats {
  Nanos per_sample = 0;  // mean time of one worker
  double in_flight = 0;  // samples that workers were reading at a time, mean over the window
  double requests = 0;   // requests to the kernel per sample
  double touched = 0;    // bytes of these requests per byte of samples
};

// The kept part of one run of a case.
struct CaseRun {
  int round = 0;
  Estimate samples_per_s;
  bool has_busy = false;
  Estimate busy;
  Account account;  // the mean over ranks
  std::int64_t steps = 0, samples = 0;
  std::optional<double> cpu_s;  // CPU time in the window
  double other_cpu_s = 0;       // CPU time of other programs during the run; 0 if unknown
  Bytes resident = 0;           // memory at the end of the window
  Bytes slots = 0, pinned = 0, shared = 0;
  Bytes worker_bytes = 0;                // memory of one worker process; 0: not known
  std::optional<CaseReadStats> reading;  // only for stored data
  Nanos first_batch = 0;
  Nanos took = 0;        // time of the run including start and warm-up; virtual time if the run
                         // uses it
  std::string bound_by;  // "" if it cannot be determined
  std::string withheld;  // reason why there is no verdict; "" with one
};

struct Case {
  Changes changes;
  RunConfig config;     // values in force, unless it was skipped before it ran
  std::string skipped;  // reason why it cannot be run, or failed
  std::vector<CaseRun> runs;
};

// A data set that an experiment compares with others.
struct DataFacts {
  std::string data;          // value of the axis
  bool is_packed = false;    // many samples lie in one file
  std::int64_t samples = 0;  // 0: not known
  Bytes disk = 0;            // approximate size of the files
  Nanos index = 0;           // time until the place of every sample is known, without a saved index
};

// Cost of making shards of the first data set, measured on some of its samples.
struct Repacking {
  std::int64_t samples = 0;  // packed
  Nanos took = 0;
  Nanos all_samples = 0;  // estimated time for all samples
};

struct Experiment {
  RunConfig base;  // settings as given, not resolved
  Axes axes;
  bool one_at_a_time = false;
  std::vector<Case> cases;
  Nanos spent = 0;
  bool interrupted = false;
  bool budget_spent = false;    // the budget ended before the work
  std::vector<DataFacts> data;  // filled if the data varies
  std::optional<Repacking> repacking;
  std::vector<std::string> notes;  // notes about the machine, and about events between the cases
};

// Makes all cases of the axes on top of `base`, resolved. Skips an impossible case with its reason.
// Throws UsageError if all cases are impossible for the same reason.
Experiment plan_experiment(const RunConfig& base, const Axes& axes, bool one_at_a_time,
                           const MachineLimits& limits);

// The world around an experiment. Tests hand in others.
struct ExperimentContext {
  std::function<RunRecord(const RunConfig&)> run;                  // throws UsageError and RunError
  std::function<Nanos()> now;                                      // clock of the budget
  std::function<bool()> stopped;                                   // true: end, keep what is there
  std::function<void(const Experiment&, Nanos budget)> after_run;  // may be empty
};

struct SweepOptions {
  Nanos budget = 2 * 60 * kSecond;
  double precision = 0.03;  // half the width of a rate's interval, relative to the rate
  std::uint64_t seed = 0;
};

// Runs what is missing: all cases in random order, round after round, each until its interval is
// narrow enough, or the budget is spent. Throws UsageError when the budget is too short for one
// case.
void run_sweep(Experiment& experiment, const ExperimentContext& context,
               const SweepOptions& options);

// Results of a sweep. The indexes are those of the cases.
struct SweepAnswer {
  std::vector<std::optional<Estimate>> rate, busy;  // empty for a case without a run
  std::optional<std::size_t> best;
  std::optional<std::size_t> knee;  // the cheapest whose interval reaches within 3 % of the best
};
SweepAnswer judge_sweep(const Experiment& experiment);

// Returns the most frequent reason why no case could be run, of the cases and of `others`. Returns
// "" if a case was run.
std::string reason_for_nothing(const Experiment& experiment,
                               const std::vector<std::string>& others = {});

}  // namespace loaderscope
