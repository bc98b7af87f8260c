// Runs of two functions alternate, so that both see the same clock rate and neighbours.
#pragma once

#include <functional>
#include <vector>

namespace loaderscope::bench {

// Rates of one run.
struct Rate {
  double wall = 0;  // samples per second
  double cpu = 0;   // samples per second of CPU time of the whole process
};

struct Interval95 {
  double median = 0, low = 0, high = 0;
};
// Returns the median with its interval by order statistics.
Interval95 median_interval(std::vector<double> values);

// a / b of every pair. What neighbours take from the machine is in `wall`, not in `cpu`.
struct Ratios {
  Interval95 wall, cpu;
  Interval95 a_wall, b_wall, a_cpu, b_cpu;  // the rates themselves
};

// One run of each first, which does not count; every other pair begins with `b`.
Ratios run_pairs(int pairs, const std::function<Rate()>& a, const std::function<Rate()>& b);

}  // namespace loaderscope::bench
