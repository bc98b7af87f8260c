// The quantities that are compared, one after another, and the counts that runs repeat exactly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/block_test.h"
#include "experiment/compare/compare.h"

namespace loaderscope::compare {

using Runs = std::vector<const SideRun*>;

// Returns the runs that other programs did not disturb. The measured values have no influence on
// the choice. Returns all runs if too few runs of an arm remain.
Runs quiet_runs(const Comparison& comparison);

double mean_value(const Runs& runs, std::int64_t arm, std::string_view name);
double mean_wall(const Runs& runs, std::int64_t arm, Stage stage);  // per sample

// One quantity and its test. Changes that are ratios are tested by their logarithms.
struct ComparedQuantity {
  Difference difference;  // has no verdict yet
  BlockTest test{{}};
};

// Returns the deciding quantities, then stages, waits, and the rest. All runs must have them.
std::vector<ComparedQuantity> questions_about(const Runs& runs);
// Returns the same for one run of each arm. `known` is the noise.
std::vector<ComparedQuantity> questions_about_two(const Runs& runs, const KnownNoise& known);

// Fills the counts that both runs of an arm in a block have alike, and names the others.
void compare_counts(ComparisonResult& judgement, const Comparison& comparison);

}  // namespace loaderscope::compare
