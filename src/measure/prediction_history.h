// How well earlier predictions on this machine held, once they were run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loaderscope {

class PredictionHistory {
 public:
  // Kept in `folder`, which need not exist; "" keeps nothing.
  explicit PredictionHistory(const std::string& folder);

  // Best effort; any number of processes may add at once.
  void add(double predicted, double measured) const;

  struct Summary {
    std::int64_t count = 0;  // of the latest predictions, at most 20
    double median = 0;       // of |predicted / measured - 1|
    double worst = 0;

    // "the last 20 predictions that were run were off by 3.0 % (median), 9.0 % at worst"; "" of
    // none.
    std::string sentence() const;
  };
  // Lines that cannot be read count for nothing.
  Summary summary() const;

 private:
  std::string folder_, file_;
};

}  // namespace loaderscope
