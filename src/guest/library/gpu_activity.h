// Activity of the GPU in this process, recorded with CUPTI. CUPTI is loaded on request, from the
// program's own PyTorch if possible.
#pragma once

#include "guest/protocol/page.h"

namespace loaderscope::guest::gpu_activity {

using Write = void (*)(const GpuRecord& record);  // from any thread, one at a time

const char* watch(Write write);  // returns null, or the reason for a failure
void record(bool on);
void flush();
void stop();    // writes the activity so far, and leaves CUPTI to other profilers
void forget();  // drops the parent's state in the child of a fork

}  // namespace loaderscope::guest::gpu_activity
