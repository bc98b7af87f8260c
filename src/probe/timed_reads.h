// Reads by several threads at once, timed.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope::probe {

// Reads one thing; how many bytes, or below 0 when there is none left.
using ReadOne = std::function<double()>;

struct Speed {
  double bytes_per_s = 0, noise = 0, per_read = 0;  // seconds of one read, with what waits
  double reads = 0;
};

struct Done {
  double bytes = 0, reads = 0, thread_s = 0;
  Nanos begin = 0, end = 0;
};

// Reads with `threads` threads at once until nothing is left or for `time`. `make` makes the reader
// of each thread.
Done read_by(int threads, const std::function<ReadOne()>& make, Nanos time,
             const std::atomic<int>& stop);

// Computes the median of several rounds.
class Speeds {
 public:
  void add(const Done& done);
  std::optional<Speed> speed();

 private:
  std::vector<double> rates_;
  double reads_ = 0, thread_s_ = 0;
};

}  // namespace loaderscope::probe
