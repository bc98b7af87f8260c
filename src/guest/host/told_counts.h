// What loaders of other packages say of themselves, as metrics.
#pragma once

#include <vector>

#include "guest/host/by_process.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class ToldCounts {
 public:
  void hear(const ProcessId& process, const CountsByName& told) { told_.put(process, told); }
  // A row for each that is known: the sum of all processes, by that of what it is of.
  std::vector<Metric> metrics() const;

 private:
  ByProcess<CountsByName> told_;
};

}  // namespace loaderscope::guest
