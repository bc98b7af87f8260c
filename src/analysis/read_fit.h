// Fit of the waits of reads: latency + bytes / bandwidth.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

struct ReadFit {
  double latency = 0;    // ns
  double per_byte = 0;   // ns
  double mean_wait = 0;  // ns
  double mean_bytes = 0;
  double share = 0;        // share of the samples' time that reads waited
  bool separable = false;  // true if latency and bandwidth can be separated

  // Returns latency as a share of the wait, 0 to 1; 1 if the two cannot be separated.
  double latency_share() const { return separable && mean_wait > 0 ? latency / mean_wait : 1; }
};

ReadFit fit_reads(const RunRecord& record);

}  // namespace loaderscope
