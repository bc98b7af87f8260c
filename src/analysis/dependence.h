// Dependence of the values of a series on earlier values, and the block length that follows.
#pragma once

#include <cstdint>
#include <span>

namespace loaderscope {

struct Dependence {
  // Values of a block, by the rule of Politis and White (2004), as corrected by Patton, Politis and
  // White (2009), for circular blocks. 1 where the values do not depend on each other, or where the
  // mean varies no more than that of independent ones.
  double block = 1;
  // Correlation of neighbours, put right for the length of the series. 0: none was seen.
  double correlation = 0;

  // Values until the correlation is down to 1/e, if each value depends on the one before it only.
  double memory() const;
  // Returns the factor by which the mean varies more than sums over blocks of `length` show, as
  // neighbouring blocks still depend on each other.
  double unseen_by_blocks(std::int64_t length) const;
};

// `values` in units of what they are a part of, such as the mean time of a step.
Dependence dependence_of(std::span<const double> values);

}  // namespace loaderscope
