#include "experiment/record_prediction_errors.h"

namespace loaderscope {

void record_prediction_errors(const Tune& tune, const PredictionHistory& history) {
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const auto& predicted = tune.candidates[i].predicted;
    const std::vector<CaseRun>& runs = tune.experiment.cases[i].runs;
    if (!predicted || runs.empty() || runs.front().round == 0) continue;
    double sum = 0;
    for (const CaseRun& run : runs) sum += run.samples_per_s.mean;
    history.add(predicted->samples_per_s, sum / static_cast<double>(runs.size()));
  }
}

}  // namespace loaderscope
