// The errors of earlier predictions on this machine, once they were run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "experiment/history_file.h"
#include "loaderscope/analysis.h"

namespace loaderscope {

// Reads lines "PREDICTED MEASURED" of a history. Ignores lines that it cannot read.
PastPredictions summary_of(std::string_view lines);

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

}  // namespace loaderscope
