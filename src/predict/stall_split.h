// Results of the model next to the account of a run: the stall without any variation, and the
// required prefetch depth.
#pragma once

#include <optional>

#include "predict/fitted_model.h"

namespace loaderscope::model {

// The measured stall, divided as the model's is between `at_means` and `base`. Nothing where the
// model has no stall to divide.
std::optional<StallSplit> starved(const Account& measured, const Prediction& base,
                                  const Prediction& at_means);

// Returns nothing in three cases: no batch is prefetched, there is no compute, or steps have too
// many samples to model enough of them.
std::optional<RequiredPrefetchDepth> ready_depth(const FittedModel& model, const Prediction& base,
                                                 const Prediction& at_means);

}  // namespace loaderscope::model
