// One run of a case: how long it is to be, and what is kept of it.
#pragma once

#include <optional>

#include "loaderscope/experiment.h"

namespace loaderscope {

CaseRun kept_of(const RunRecord& record);

// How long a sweep makes each run of so many cases.
Nanos length_of_sweep(Nanos budget, std::size_t cases);

// Runs cases, and keeps the time.
class CaseRunner {
 public:
  // A run takes about `length` with its start and warm-up, but sees at least 20 steps and four
  // bursts of the workers; the length that the base case gives goes before. Round r draws with its
  // own seed, unless the seed is what varies.
  CaseRunner(Experiment& experiment, const ExperimentContext& context, Nanos length, Nanos budget);

  // Nothing when the case failed, which is then skipped, or was interrupted before it had enough
  // steps. `step`: what a step
  // may take, 0 when not known. Throws UsageError when the budget is too short for the first run of
  // all.
  std::optional<RunRecord> run(Case& one, int round, Nanos step = 0);

  Nanos length() const { return length_; }
  Nanos left() const { return budget_ - experiment_.spent; }
  // What each run takes beside its steps, as a program's start: as far as runs have shown it.
  Nanos start() const;
  // What the next run of a case takes, as far as that is known: at least as long as the shortest of
  // the others before its first.
  Nanos next_run(const Case& one) const;
  bool stopped() const { return context_.stopped && context_.stopped(); }

 private:
  RunConfig with_length(const Case& one, int round, Nanos step, bool measured) const;
  std::optional<RunRecord> attempt(Case& one, const RunConfig& config, Nanos& took);
  void keep(Case& one, const RunRecord& record, int round, Nanos took);
  Nanos window() const;  // of the next run
  void refuse_short_budget(Nanos step, std::int64_t steps) const;

  Experiment& experiment_;
  const ExperimentContext& context_;
  Nanos length_, budget_;
};

bool has_length(const RunConfig& config);  // the user says how long a run is

// Of a run: measured, and before them.
std::int64_t fewest_steps(const RunConfig& config);
std::int64_t warmup_steps(const RunConfig& config);

}  // namespace loaderscope
