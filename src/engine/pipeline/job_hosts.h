#pragma once

#include <cstdint>

#include "loaderscope/units.h"

namespace loaderscope {

// The machines of a job that is spread over several, each like the one that was measured.
struct JobHosts {
  std::int64_t count = 1;   // with ranks; each has the same number of them, the last may have less
  double decode_cores = 0;  // of all hosts without ranks, that decode for them; 0: there are none
  double decode_rate = 0;   // bytes per second that these send, as batches have them; 0: any
  // Workers of a rank come up by up to so much later than those of another: ranks whose costs are
  // all the same would else meet on the cores each time, as real ones do not.
  Nanos apart = 0;

  // Of `sample`, which is decoded in that CPU time, when it is alone there: work is divided, as
  // there is always more of it under way than there are cores.
  Nanos elsewhere(Nanos cpu, Bytes delivered) const;
};

}  // namespace loaderscope
