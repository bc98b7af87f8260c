// What leaving out a cause would give.
#pragma once

#include <functional>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"
#include "loaderscope/findings.h"

namespace loaderscope {

// Less is no gain: of a verdict and of a proof.
inline constexpr double kWorthMending = 0.02;  // of the window

// By what the record says itself.
Removals removals_of(const RunRecord& record, const Account& account);

// The same run without some causes, in the model. Nothing for a cause that it cannot leave out.
using PredictWithout = std::function<Prediction(const Changes&, const Knockouts&)>;

// By a model that is off by `error` on the run itself. Causes are left out one by one; where none
// gives anything alone, in pairs.
Removals removals_in_model(const Removals& recorded, const Account& account, const Prediction& base,
                           double error, const PredictWithout& predict);

}  // namespace loaderscope
