// A batch of a modelled loader.
#pragma once

#include <cstdint>

#include "record/recorder.h"

namespace loaderscope::model {

// Reused after the trainer has taken the batch and released it.
struct ModelBatch {
  StepEvents events;
  std::int64_t batch_of_epoch = 0;
  std::int64_t next_sample = 0;   // sample tasks: the next one to begin
  std::int64_t samples_left = 0;  // sample tasks: not finished
};

}  // namespace loaderscope::model
