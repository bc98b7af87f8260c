// JSON of torch.profiler and files of samplers, whatever the bytes.
#include "fuzz/made_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return loaderscope::fuzz::diagnose_bytes(data, size, ".json");
}
