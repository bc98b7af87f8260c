// What reads waited, as latency + bytes / bandwidth.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

struct ReadFit {
  double latency = 0;    // ns
  double per_byte = 0;   // ns
  double mean_wait = 0;  // ns
  double mean_bytes = 0;
  double share = 0;   // of the time that the samples took, reads waited
  bool told = false;  // the two can be told apart

  // Of the waiting, 0 to 1; where they cannot be told apart all of it.
  double latency_share() const { return told && mean_wait > 0 ? latency / mean_wait : 1; }
};

ReadFit fit_reads(const RunRecord& record);

}  // namespace loaderscope
