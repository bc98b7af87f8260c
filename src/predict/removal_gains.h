// Time that a run would save without one cause, in the model.
#pragma once

#include <functional>

#include "loaderscope/predict.h"

namespace loaderscope {

// Predicts the run without some causes. Empty for a cause that the model cannot leave out.
using PredictWithout = std::function<Prediction(const Changes&, const Knockouts&)>;

// Uses a model whose error on the run itself is `error`. Leaves out the causes one by one, and in
// pairs if no cause alone saves time.
RemovalGains removals_in_model(const RemovalGains& recorded, const Account& account,
                               const Prediction& base, double error, const PredictWithout& predict);

}  // namespace loaderscope
