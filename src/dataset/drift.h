// `data info A B`: differences between two data sets.
#pragma once

#include <string>
#include <vector>

#include "dataset/info.h"

namespace loaderscope::dataset {

// One property of the samples of both.
struct Difference {
  std::string what;  // "width"
  std::string a, b;  // values in words: "median 500"
  double share = 0;  // smallest share of the samples of one side that would have to change
  double chance_limit =
      0;  // limit that two random samples of one source exceed once in a thousand times
  bool is_real() const { return share > chance_limit && share >= kNoticed; }

  static constexpr double kNoticed = 0.001;
};

struct Drift {
  DatasetInfo a, b;
  std::vector<Difference> differences;  // differences of common properties: the largest first
};

Drift drift_between(DatasetInfo a, DatasetInfo b);

}  // namespace loaderscope::dataset
