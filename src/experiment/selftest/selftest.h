// Tests the account on this machine: the share of a known delay in one stage that it books to that
// stage.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/selftest/pipelines.h"
#include "loaderscope/run_record.h"

namespace loaderscope::selftest {

// Limit of the error of a booked delay, as a share of the injected one, in both directions.
inline constexpr double kTolerance = 0.05;

// The effect of one stage's delay on the account.
struct Recovery {
  std::string pipeline;
  Stage stage = Stage::decode;
  double injected_s = 0;  // per step
  // Growth of each cause's stall per step against the base run of the same round. One entry per
  // round.
  std::vector<PerCause<double>> growth;

  Cause cause() const { return stage_cause(stage); }
  double recovered_s() const { return median_growth(cause()); }  // per step
  double share() const { return recovered_s() / injected_s; }
  bool found() const;
  // Growth of another cause, as a share of the injected delay.
  double elsewhere(Cause other) const { return median_growth(other) / injected_s; }

 private:
  double median_growth(Cause which) const;
};

struct Options {
  std::int64_t rounds = 3;       // rounds of every pipeline
  Nanos budget = 60 * kSecond;   // no round but the first is begun that would not end within it
  std::int64_t most_rounds = 9;  // limit of rounds for delays that were not found
};

// Functions of the environment that the self-test calls.
struct World {
  std::function<RunRecord(const RunConfig&)> run;
  std::function<Nanos()> now;
  std::function<void(std::int64_t runs, double fraction)> on_progress;  // may be empty
};

struct Result {
  std::string engine;
  std::vector<Recovery> stages;  // results with at least one round
  double contention = 0;         // share of the base runs' windows
  Nanos wall = 0;
  bool interrupted = false;
  std::vector<std::string> notes;  // notes that the reader needs

  const Recovery* worst() const;  // farthest from what was injected; null when there is none
  std::vector<const Recovery*> not_found() const;
  bool passed() const { return !interrupted && !stages.empty() && not_found().empty(); }
};

// Each round runs every pipeline as it is and with each of its delays; further rounds, within the
// budget, repeat what was not found.
Result run_selftest(const std::vector<Trial>& trials, const Options& options, const World& world);

}  // namespace loaderscope::selftest
