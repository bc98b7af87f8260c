// Comparison of the step times of a rank at the begin and at the end of a window.
#pragma once

#include <cstdint>
#include <vector>

namespace loaderscope {

// Step times of a rank's window. They are grouped by `workers` steps if each half has at least
// eight groups, as batch tasks arrive in bursts. Otherwise single steps are used.
class Steadiness {
 public:
  Steadiness(std::int64_t steps, std::int64_t workers);

  void add(std::int64_t index, double time);
  // Returns whether the rank is steady. `ranks` ranks are judged separately; all of them seem
  // unsteady by chance in 1 % of runs.
  bool holds(std::int64_t ranks) const;

 private:
  std::int64_t length_ = 1;
  std::int64_t block_ = 1;
  std::vector<double> times_;
};

}  // namespace loaderscope
