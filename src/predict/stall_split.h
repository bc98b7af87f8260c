// What the model adds to the account of a run: how much of the stall is left without any spread,
// and how far ahead batches must be made.
#pragma once

#include <optional>

#include "predict/fitted_model.h"

namespace loaderscope::model {

// The measured stall, divided as the model's is between `at_means` and `base`. Nothing where the
// model has no stall to divide.
std::optional<StallSplit> starved(const Account& measured, const Prediction& base,
                                  const Prediction& at_means);

// Nothing where no batch is made ahead, where there is no compute to be ready for, and where steps
// have too many samples to model enough of them.
std::optional<RequiredPrefetchDepth> ready_depth(const FittedModel& model, const Prediction& base,
                                                 const Prediction& at_means);

}  // namespace loaderscope::model
