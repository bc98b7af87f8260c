// Adds the errors of a tune's predictions to the history, which later predictions quote.
#pragma once

#include "experiment/prediction_history.h"
#include "experiment/tune.h"

namespace loaderscope {

// Covers predictions that were made before the run. The probe run is excluded, because the model
// was fitted to it.
void record_prediction_errors(const Tune& tune, const PredictionHistory& history);

}  // namespace loaderscope
