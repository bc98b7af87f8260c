// Proof: what is blamed is knocked out and the configuration is run again, in turns with the base
// case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/settings.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// What one run gave, measured or predicted.
struct ProofRun {
  double samples_per_s = 0;
  double busy = 0;  // 0 without a compute

  bool operator==(const ProofRun&) const = default;
};

struct ProofPrediction {
  ProofRun base, after;
  // |predicted / measured - 1| of the rate: of the model on the base case, or the worst of its past
  // predictions on this machine where that is more.
  double error = 0;

  double gain() const;
  bool operator==(const ProofPrediction&) const = default;
};

// One way to run the configuration.
struct ProofCase {
  std::string name;  // "base", "decode knocked out"; of the differential "device only", "cold", ...
  Knockouts knockouts;
  Changes changes;
  std::string missing;                       // why it was not run; "" when it was
  std::vector<ProofRun> runs;                // one per round
  std::optional<ProofPrediction> predicted;  // not of what no model knows, such as a cold cache

  bool operator==(const ProofCase&) const = default;
};

struct Proof {
  Prove asked = Prove::blamed;
  std::string reason;         // why nothing was run; "" when something was
  bool exact = false;         // in virtual time: running it again gives the same
  bool has_busy = false;      // there is a compute to be busy with
  bool interrupted = false;   // what was measured until then counts
  bool gpu_is_limit = false;  // then leaving out all of the loader should give nothing
  bool by_turns = false;      // the base and the first case are turns of one run
  ProofCase base;             // of `blamed` and `fix`
  std::vector<ProofCase> cases;

  bool operator==(const Proof&) const = default;
};

}  // namespace loaderscope
