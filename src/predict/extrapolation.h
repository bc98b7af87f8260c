// Where a prediction goes beyond what was measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/predict.h"

namespace loaderscope::model {

// Of a stream that is divided by its shards a worker without one ends at once, and its tasks go to
// the others. 0 shards: not known.
void give_shards_to_workers(RunConfig& config, std::int64_t shards,
                            std::vector<std::string>& notes);

// Notes what `base` did not measure and `prediction.config` needs. `of_user_code`: nobody knows
// what its workers share.
void note_extrapolation(const RunConfig& base, const FittedCosts& costs, bool of_user_code,
                        Prediction& prediction);

// Of batches of another size nobody measured how long a step computes: it is taken to be as long,
// where `changes` do not say it.
void note_same_compute(const RunConfig& base, const RunConfig& config, const FittedCosts& costs,
                       const Changes& changes, std::vector<std::string>& notes);

// Of a program on a GPU: with more workers the rate may depend on how fast its own thread launches
// kernels, which nobody measured beside so many.
void note_launching(const FittedCosts& costs, const Prediction& base, Prediction& prediction);

// Of training on the cores: where `prediction` makes its compute much slower than `base`, or has
// other workers share the cores with a compute that was already slowed by them, how much that is
// was not measured.
void note_shared_cores(const FittedCosts& costs, const Prediction& base, Prediction& prediction);

}  // namespace loaderscope::model
