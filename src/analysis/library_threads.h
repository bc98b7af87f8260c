// Threads that a library runs for the stages of the loader, such as those of a tokenizer. The
// thread that makes the batch is blocked meanwhile, and still needs cores.
#pragma once

#include <optional>

#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// Of each stage, the mean over all ranks. 0 if nobody counted their CPU time. They are taken to
// wait for a core as long as the threads that make batches.
PerStage<LibraryTime> library_threads(const RunRecord& record);

// Their CPU time in s, of all stages. Empty if nobody counted it.
std::optional<double> cpu_of_libraries(const RunRecord& record);

}  // namespace loaderscope
