// Results of the model next to the account of a run: the stall without any variation, and the
// required prefetch depth.
#pragma once

#include <optional>

#include "predict/fitted_model.h"

namespace loaderscope::model {

// Splits the measured stall in the proportion of the model's stall `at_means` and in `base`.
// Returns nothing if the model has no stall.
std::optional<StallSplit> starved(const Account& measured, const Prediction& base,
                                  const Prediction& at_means);

// Returns nothing in three cases: no batch is prefetched, there is no compute, or steps have too
// many samples to model enough of them.
std::optional<RequiredPrefetchDepth> ready_depth(const FittedModel& model, const Prediction& base,
                                                 const Prediction& at_means);

}  // namespace loaderscope::model
