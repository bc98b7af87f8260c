// What the GPU does in this process, by CUPTI, which is loaded when it is asked for: that of the
// program's own PyTorch where there is one.
#pragma once

#include "guest/protocol/page.h"

namespace loaderscope::guest::gpu_activity {

using Write = void (*)(const GpuRecord& record);  // from any thread, one at a time

const char* watch(Write write);  // null, or why it cannot be
void record(bool on);
void flush();
void stop();    // what it has done is written; from now on CUPTI is another profiler's
void forget();  // in the child of a fork: all of it is the parent's

}  // namespace loaderscope::guest::gpu_activity
