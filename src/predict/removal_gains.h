// What leaving out a cause would save, in the model.
#pragma once

#include <functional>

#include "loaderscope/predict.h"

namespace loaderscope {

// The same run without some causes. Empty for a cause that the model cannot leave out.
using PredictWithout = std::function<Prediction(const Changes&, const Knockouts&)>;

// By a model that is off by `error` on the run itself. Causes are left out one by one; where none
// gives anything alone, in pairs.
RemovalGains removals_in_model(const RemovalGains& recorded, const Account& account,
                               const Prediction& base, double error, const PredictWithout& predict);

}  // namespace loaderscope
