// Allocations by operator new of this program, counted. What libjpeg takes by malloc for each image
// is not among them.
#pragma once

#include <cstdint>

#include "bench/native/photos.h"

namespace loaderscope::bench {

struct Allocations {
  double loader = 0;     // per batch, in the trainer's and the workers' threads
  double collector = 0;  // per batch, in the thread that folds what they report
};

// Per batch after warm-up: those of a long run less those of a short one.
Allocations count_allocations(const std::string& folder);

}  // namespace loaderscope::bench
