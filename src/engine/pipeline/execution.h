// Identifies one execution of a stage.
#pragma once

#include <cstdint>

#include "loaderscope/units.h"

namespace loaderscope {

struct Execution {
  std::int32_t rank = 0;
  std::int32_t worker = -1;  // -1: not a worker's
  std::int64_t epoch = 0;
  std::int64_t draw =
      0;  // index of the random draw: the sample in the data set, or the batch over all ranks
  std::int64_t count =
      0;  // position of the sample in the rank's epoch, or of the batch, for `every`
  std::int64_t samples = 0;  // samples of the batch
  Bytes bytes = 0;
  bool last_of_epoch = false;  // the compute of an epoch's last step
};

}  // namespace loaderscope
