// What is asked of the runs, one quantity after another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/block_test.h"
#include "experiment/compare/compare.h"

namespace loaderscope::compare {

using Runs = std::vector<const SideRun*>;

// Those that nothing disturbed: by what else ran and never by what was measured, and only where
// most of both arms are left.
Runs quiet_runs(const Comparison& comparison);

double mean_of(const Runs& runs, std::int64_t arm, std::string_view name);
double wall_of(const Runs& runs, std::int64_t arm, Stage stage);  // per sample

// What is looked at, and how it is tested: by logarithms where its changes are ratios.
struct ComparedQuantity {
  Difference difference;  // without a verdict
  BlockTest test{{}};
};

// What decides, then stages, waits, and the rest: whatever all runs have.
std::vector<ComparedQuantity> questions_about(const Runs& runs);
// Of one run of each arm: what is known to differ by so much.
std::vector<ComparedQuantity> questions_about_two(const Runs& runs, const KnownNoise& known);

}  // namespace loaderscope::compare
