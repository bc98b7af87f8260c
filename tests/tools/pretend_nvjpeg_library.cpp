// An nvJPEG that can only be loaded. PRETEND_VERSION: its major version.
#include "device/cuda/nvjpeg_api.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

#pragma GCC diagnostic ignored "-Wunused-parameter"

using namespace loaderscope::cuda::nvjpeg;

// This function has a body of its own below.
#define nvjpegGetProperty not_exported
#define FAIL(name, parameters) \
  EXPORTED Code name parameters { return Code::execution_failed; }
LOADERSCOPE_NVJPEG_FUNCTIONS(FAIL)
#undef nvjpegGetProperty

EXPORTED Code nvjpegGetProperty(int which, int* value) {
  *value = which == 0 ? PRETEND_VERSION : which;
  return Code::success;
}
