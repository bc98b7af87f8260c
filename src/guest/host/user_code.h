// What of the user's own code the time of a stage goes into, as the job's processes report it.
#pragma once

#include <utility>
#include <vector>

#include "guest/host/by_process.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class UserCode {
 public:
  // What `process` has spent so far.
  void spent(const ProcessId& process, SpentTimes times) { spent_.put(process, std::move(times)); }
  // Of the first loader that has them.
  void know_names(const NamesByStage& names);

  // The few names of each stage that took most, with their shares.
  std::vector<Detail> details() const;

 private:
  ByProcess<SpentTimes> spent_;
  NamesByStage names_;  // of no known share
};

}  // namespace loaderscope::guest
