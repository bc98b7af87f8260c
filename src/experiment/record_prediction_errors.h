// How well a tune's predictions held goes into the history that later ones are quoted with.
#pragma once

#include "experiment/prediction_history.h"
#include "experiment/tune.h"

namespace loaderscope {

// What was predicted before it was run; the probe that a model was fitted to is none of its
// predictions.
void record_prediction_errors(const Tune& tune, const PredictionHistory& history);

}  // namespace loaderscope
