// The model against the native engine over a grid of configurations: from declared costs, and from
// one measured record of real images. The load of other programs is that of each measured run, as
// its threads' waiting for a core shows it; all else is predicted.
#pragma once

#include <string>
#include <vector>

namespace loaderscope::bench {

struct PredictionError {
  std::string name;
  bool from_images = false;  // fitted to the record of another configuration
  double predicted = 0;      // samples per second, the medians of the rounds, as are the following
  double measured = 0;
  double rate_error = 0;    // predicted / measured - 1
  std::string worst_cause;  // compute may be it too
  double worst_share = 0;   // predicted - measured, of the window
  double contention = 0;    // share of the measured window
};

// `folder`: of images; in each round every configuration runs once, `seconds` long.
std::vector<PredictionError> compare_predictions(const std::string& folder, int rounds,
                                                 double seconds);

}  // namespace loaderscope::bench
