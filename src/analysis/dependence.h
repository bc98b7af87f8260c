// Dependence of the values of a series on earlier values, and the block length that follows.
#pragma once

#include <cstdint>
#include <span>

namespace loaderscope {

struct Dependence {
  // Values per block, by the rule of Politis and White (2004), as corrected by Patton, Politis and
  // White (2009), for circular blocks. 1 if the values are independent, or if the mean varies no
  // more than that of independent values.
  double block = 1;
  // Correlation of neighbours, corrected for the length of the series; 0 if none was seen.
  double correlation = 0;

  // Returns the number of values until the correlation falls to 1/e, if each value depends only on
  // the previous one.
  double memory() const;
  // Returns the factor by which the mean varies more than sums over blocks of `length` show, as
  // neighbouring blocks still depend on each other.
  double unseen_by_blocks(std::int64_t length) const;
};

// Measures the dependence. `values` are relative to a mean, such as the mean time of a step.
Dependence measure_dependence(std::span<const double> values);

}  // namespace loaderscope
