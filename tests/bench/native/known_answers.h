// Native against model on declared sleeps: what the account books to each cause.
#pragma once

#include <string>
#include <vector>

namespace loaderscope::bench {

struct Answer {
  std::string name;
  std::string cause;      // the one that differs most; "compute" may be it too
  double model = 0;       // share of the window in the model
  double native = 0;      // share in native runs, the median
  double difference = 0;  // difference of the shares, the median of the runs
  double window = 0;      // native / model, the median of the runs
};

std::vector<Answer> compare_with_model(int runs);

}  // namespace loaderscope::bench
