// The errors of earlier predictions on this machine, once they were run. A file keeps them, as the
// knowledge from a user's earlier runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "experiment/tune.h"
#include "loaderscope/analysis.h"

namespace loaderscope {

// Knowledge from a user's earlier runs, as lines of a file. Any number of processes may add lines.
class HistoryFile {
 public:
  // The file `name` in `folder`, which need not exist; "" keeps nothing.
  HistoryFile(const std::string& folder, const std::string& name);

  // Best effort. The older half goes where there are many.
  void add(const std::string& line) const;
  std::string text() const;  // the latest lines, the oldest of them first

 private:
  std::string folder_, file_;
};

void for_each_line(std::string_view text, const std::function<void(std::string_view line)>& take);

// Reads lines "PREDICTED MEASURED" of a history. Ignores lines that it cannot read.
PastPredictions summarise_predictions(std::string_view lines);

class PredictionHistory {
 public:
  // Kept in `folder`, which need not exist; "" keeps nothing.
  explicit PredictionHistory(const std::string& folder);

  // Best effort; any number of processes may add at once.
  void add(double predicted, double measured) const;

  PastPredictions summary() const;

 private:
  HistoryFile lines_;
};

// Adds the errors of a tune's predictions to the history, which later predictions quote. Covers
// predictions that were made before the run. The probe run is excluded, because the model was
// fitted to it.
void record_prediction_errors(const Tune& tune, const PredictionHistory& history);

}  // namespace loaderscope
