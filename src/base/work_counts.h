// What the calling thread has asked of the machine, counted where it asks: the difference of two
// looks is what was done between them, and the same code repeats it exactly.
#pragma once

#include <cstdint>

namespace loaderscope {

struct WorkCounts {
  std::int64_t opened = 0;       // files, and shards
  std::int64_t requests = 0;     // reads and mappings
  std::int64_t allocations = 0;  // by operator new, where it is counted

  WorkCounts operator-(const WorkCounts& before) const {
    return {opened - before.opened, requests - before.requests, allocations - before.allocations};
  }
  WorkCounts& operator+=(const WorkCounts& more) {
    opened += more.opened;
    requests += more.requests;
    allocations += more.allocations;
    return *this;
  }
  bool operator==(const WorkCounts&) const = default;
};

inline thread_local constinit WorkCounts thread_counts;

}  // namespace loaderscope
