// Comparison of two sides that alternate in blocks: their difference, and the differences that a
// number of runs can detect.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

struct BlockValue {
  std::int64_t block = 0;
  bool is_second = false;  // side
  double value = 0;
};

// Difference between the sides within blocks, second minus first, in the order of time. Differences
// between blocks, and a steady gain from run to run, do not count. The rest between runs of one
// side in a block is the noise (least squares, Student's law).
class BlockTest {
 public:
  explicit BlockTest(std::span<const BlockValue> values);

  // Returns the test for one value of each side. `deviation` is the known deviation between runs of
  // one side, from a test with `degrees` degrees of freedom.
  static BlockTest with_known_deviation(double difference, double deviation, std::int64_t degrees);

  bool knows() const { return degrees_ > 0; }  // false if there are too few values
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }  // between runs of one side in a block
  Estimate interval(double level) const;
  double p_differs() const;            // two-sided test: the difference is 0
  double p_beyond(double band) const;  // two one-sided tests: |difference| >= `band`
  // Returns the difference that is detected with probability `power` at p < `alpha`.
  double least_seen(double alpha, double power) const;
  // Returns the factor of the number of values that narrows the interval of `level` to
  // +-`half_width`.
  double more_for(double half_width, double level) const;

 private:
  double mean_ = 0, error_ = 0, deviation_ = 0;
  std::int64_t degrees_ = 0;
};

// Returns the mean of independent values. The interval is infinite for fewer than two values.
Estimate mean_with_interval(std::span<const double> values, double level);

// Returns the p values with Holm's correction for several tests, in their order.
std::vector<double> holm_adjusted(const std::vector<double>& p);

}  // namespace loaderscope
