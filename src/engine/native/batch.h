// A batch on its way: one of a fixed number of objects, each with its own place in host memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope::native {

struct Batch {
  StepEvents events;
  std::int64_t batch_of_epoch = 0;
  std::vector<std::int64_t> samples;  // indices in the data set
  std::byte* written = nullptr;       // where workers write; null when nothing is written
  std::byte* copied_from = nullptr;   // what the device copies from
  std::int64_t next_sample = 0;       // sample tasks: the next one nobody has begun
  std::atomic<std::int64_t> samples_left{0};
  std::atomic<Bytes> read_bytes{0};
};

}  // namespace loaderscope::native
