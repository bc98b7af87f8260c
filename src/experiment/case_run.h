// One run of a case: its length, and the results that are kept.
#pragma once

#include <optional>

#include "loaderscope/experiment.h"

namespace loaderscope {

CaseRun make_case_run(const RunRecord& record);

// Length of each run in a sweep of `cases`.
Nanos length_of_sweep(Nanos budget, std::size_t cases);

// Runs cases, and keeps the time.
class CaseRunner {
 public:
  // A run takes about `length` with its start and warm-up, but sees at least 20 steps and four
  // bursts of the workers; the length that the base case gives goes before. Round r draws with its
  // own seed, unless the seed is what varies.
  CaseRunner(Experiment& experiment, const ExperimentContext& context, Nanos length, Nanos budget);

  // Returns nothing if the case failed, which is then skipped, or was interrupted before it had
  // enough steps. `step`: expected ns of a step, 0 when not known. Throws UsageError when the
  // budget is too short for the first run of all.
  std::optional<RunRecord> run(Case& one, int round, Nanos step = 0);

  Nanos length() const { return length_; }
  Nanos left() const { return budget_ - experiment_.spent; }
  // Time of a run outside its steps, such as the start of a program. Based on previous runs.
  Nanos start() const;
  // Expected time of the next run of a case. Before its first run, at least as long as the shortest
  // of the other cases.
  Nanos next_run(const Case& one) const;
  bool stopped() const { return context_.stopped && context_.stopped(); }

 private:
  RunConfig with_length(const Case& one, int round, Nanos step, bool measured) const;
  std::optional<RunRecord> attempt(Case& one, const RunConfig& config, Nanos& took);
  void keep(Case& one, const RunRecord& record, int round, Nanos took);
  Nanos window() const;  // length for the next run
  void refuse_short_budget(Nanos step, std::int64_t steps) const;

  Experiment& experiment_;
  const ExperimentContext& context_;
  Nanos length_, budget_;
};

bool has_length(const RunConfig& config);  // the user says how long a run is

// Steps in the window of a run, and before it.
std::int64_t fewest_steps(const RunConfig& config);
std::int64_t warmup_steps(const RunConfig& config);

}  // namespace loaderscope
