// Threads that a library runs for the stages of the loader, such as those of a tokenizer. The
// thread that makes the batch is blocked meanwhile, and still needs cores.
#pragma once

#include <algorithm>

#include <optional>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Threads of a library that work while the thread of a stage is blocked.
struct LibraryTime {
  double cpu = 0;     // ns for each ns that it is blocked
  double queued = 0;  // share of their time for which they waited for a core

  // For each ns that it is blocked: what it takes with a core for each thread, and what is left
  // that they do not explain.
  double computing() const { return std::min(cpu, 1 - queued); }
  double waiting() const { return 1 - std::min(1.0, cpu / (1 - queued)); }
};

// Of each stage, the mean over all ranks. 0 if nobody counted their CPU time. They are taken to
// wait for a core as long as the threads that make batches.
PerStage<LibraryTime> library_threads(const RunRecord& record);

// Their CPU time in s, of all stages. Empty if nobody counted it.
std::optional<double> cpu_of_libraries(const RunRecord& record);

}  // namespace loaderscope
