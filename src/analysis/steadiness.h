// Comparison of the step times of a rank at the begin and at the end of a window.
#pragma once

#include <cstdint>
#include <vector>

namespace loaderscope {

// The step times of a rank's window in stretches of `workers` steps when each half has at least
// eight of them (batch tasks arrive in bursts of W), else of single steps.
class Steadiness {
 public:
  Steadiness(std::int64_t steps, std::int64_t workers);

  void add(std::int64_t index, double time);
  // `ranks`: that are judged, each for itself; all of them seem unsteady by chance in 1 % of runs.
  bool holds(std::int64_t ranks) const;

 private:
  std::int64_t length_ = 1;
  std::int64_t block_ = 1;
  std::vector<double> times_;
};

}  // namespace loaderscope
