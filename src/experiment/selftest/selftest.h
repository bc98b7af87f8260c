// Whether the account can be trusted here: of a known delay in one stage, how much does it book to
// that stage?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/selftest/pipelines.h"
#include "loaderscope/run_record.h"

namespace loaderscope::selftest {

// Of what is injected, the account must book this part to the stage: not less, and not as much
// more.
inline constexpr double kTolerance = 0.05;

// What one stage's delay did to the account.
struct Recovery {
  std::string pipeline;
  Stage stage = Stage::decode;
  double injected_s = 0;  // per step
  // Per round: by how much each cause's stall per step grew against the base run beside it.
  std::vector<PerCause<double>> growth;

  Cause cause() const { return cause_of(stage); }
  double recovered_s() const { return median_growth(cause()); }  // per step
  double share() const { return recovered_s() / injected_s; }
  bool found() const;
  // Of what was injected, by how much another cause grew.
  double elsewhere(Cause other) const { return median_growth(other) / injected_s; }

 private:
  double median_growth(Cause of) const;
};

struct Options {
  std::int64_t rounds = 3;       // of every pipeline
  Nanos budget = 60 * kSecond;   // no round but the first is begun that would not end within it
  std::int64_t most_rounds = 9;  // of what was not found
};

// What the self-test uses of the world around it.
struct World {
  std::function<RunRecord(const RunConfig&)> run;
  std::function<Nanos()> now;
  std::function<void(std::int64_t runs, double fraction)> on_progress;  // may be empty
};

struct Result {
  std::string engine;
  std::vector<Recovery> stages;  // those with at least one round
  double contention = 0;         // of the base runs' windows
  Nanos wall = 0;
  bool interrupted = false;
  std::vector<std::string> notes;  // what a reader must know

  const Recovery* worst() const;  // farthest from what was injected; null when there is none
  std::vector<const Recovery*> not_found() const;
  bool passed() const { return !interrupted && !stages.empty() && not_found().empty(); }
};

// Each round runs every pipeline as it is and with each of its delays; further rounds, within the
// budget, repeat what was not found.
Result run_selftest(const std::vector<Trial>& trials, const Options& options, const World& world);

}  // namespace loaderscope::selftest
