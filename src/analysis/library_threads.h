// Threads that a library runs for the stages of the loader, such as those of a tokenizer. The
// thread that makes the batch is blocked meanwhile, and still needs cores.
#pragma once

#include <algorithm>

#include <optional>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Threads of a library that work while the thread of a stage is blocked.
struct LibraryTime {
  double cpu = 0;     // ns per ns that the thread is blocked
  double queued = 0;  // share of their time for which they waited for a core

  // Shares of the blocked time: the time that the work takes with a core for each thread, and the
  // rest.
  double computing() const { return std::min(cpu, 1 - queued); }
  double waiting() const { return 1 - std::min(1.0, cpu / (1 - queued)); }
};

// Returns the library time of each stage, as the mean over all ranks; 0 if their CPU time is
// unknown. These threads are assumed to wait for a core as long as the threads that make batches.
PerStage<LibraryTime> library_threads(const RunRecord& record);

// Returns the CPU time of library threads in s, over all stages. Empty if unknown.
std::optional<double> cpu_of_libraries(const RunRecord& record);

}  // namespace loaderscope
