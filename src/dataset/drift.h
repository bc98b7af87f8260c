// `data info A B`: in what two data sets differ.
#pragma once

#include <string>
#include <vector>

#include "dataset/info.h"

namespace loaderscope::dataset {

// One property of the samples of both.
struct Difference {
  std::string what;  // "width"
  std::string a, b;  // what it is there, in words: "median 500"
  double share = 0;  // of the samples of one that would have to be others, at least
  double by_chance =
      0;  // two draws of so many from one source differ by less, but once in a thousand
  bool is_real() const { return share > by_chance && share >= kNoticed; }

  static constexpr double kNoticed = 0.001;
};

struct Drift {
  DatasetInfo a, b;
  std::vector<Difference> differences;  // of what both have: the largest first
};

Drift drift_between(DatasetInfo a, DatasetInfo b);

}  // namespace loaderscope::dataset
