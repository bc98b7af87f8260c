#include "gpu/globaltimer.h"

#include <cuda_runtime.h>

namespace loaderscope::cuda {
namespace {

__global__ void read_kernel(std::int64_t* readings, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    readings[i] = static_cast<std::int64_t>(now);
  }
}

}  // namespace

int launch_readings(std::int64_t* readings, std::int32_t count, CUstream_st* stream) {
  read_kernel<<<1, 1, 0, stream>>>(readings, count);
  return static_cast<int>(cudaGetLastError());
}

}  // namespace loaderscope::cuda
