// Activity of the GPU in this process, recorded with CUPTI. CUPTI is loaded on request, from the
// program's own PyTorch if possible.
#pragma once

#include "guest/protocol/page.h"

namespace loaderscope::guest::gpu_activity {

using Write = void (*)(const GpuRecord& record);  // from any thread, one at a time

const char* watch(Write write);  // returns null, or the reason for a failure
void record(bool on);
// Work that the calling thread starts until the matching `end_stage` makes batches, in this stage.
// Calls nest. Returns false, and begins nothing, if no activity is watched, or if this CUPTI cannot
// say which call started a kernel.
bool begin_stage(Stage stage);
void end_stage();
void flush();
void stop();    // writes the activity so far, and leaves CUPTI to other profilers
void forget();  // drops the parent's state in the child of a fork

}  // namespace loaderscope::guest::gpu_activity
