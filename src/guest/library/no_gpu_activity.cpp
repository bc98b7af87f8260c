// Built without CUPTI's header.
#include "guest/library/gpu_activity.h"

namespace loaderscope::guest::gpu_activity {

const char* watch(Write) {
  return "loaderscope was built without CUPTI (part of the CUDA toolkit)";
}
void record(bool) {}
bool begin_stage(Stage) { return false; }
void end_stage() {}
void flush() {}
void stop() {}
void forget() {}

}  // namespace loaderscope::guest::gpu_activity
