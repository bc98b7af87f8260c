// Compiled without fused multiply-adds: the results are those of the host, to the bit.
#include <cuda_runtime.h>

#include "device/cuda/augment_block.h"
#include "device/cuda/kernels.h"

namespace loaderscope::cuda {
namespace {

constexpr int kRowThreads = 256, kStepThreads = 512;

static_assert(sizeof(std::int32_t) * shared_words(kMaxKernelSize) <= 48 * 1024,
              "a block has no more shared memory without being asked for it");

// All threads of the block. They call its functions together.
class ThreadBlock {
 public:
  template <class Body>
  LOADERSCOPE_ON_DEVICE void each([[maybe_unused]] int n, [[maybe_unused]] const Body& body) const {
#ifdef __CUDA_ARCH__
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) body(i);
    __syncthreads();
#endif
  }

  template <class Body>
  LOADERSCOPE_ON_DEVICE std::int64_t sum([[maybe_unused]] int n,
                                         [[maybe_unused]] const Body& body) const {
#ifdef __CUDA_ARCH__
    constexpr int kWarpThreads = 32;
    __shared__ long long sums[kWarpThreads];
    long long mine = 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
      mine += body(i);
    for (int other = kWarpThreads / 2; other > 0; other /= 2)
      mine += __shfl_down_sync(0xffffffffu, mine, static_cast<unsigned>(other));
    if (threadIdx.x % kWarpThreads == 0) sums[threadIdx.x / kWarpThreads] = mine;
    __syncthreads();
    long long total = 0;
    for (unsigned warp = 0; warp < blockDim.x / kWarpThreads; ++warp) total += sums[warp];
    __syncthreads();  // the next sum overwrites them
    return total;
#else
    return 0;
#endif
  }
};

__host__ __device__ int blocks_of_sample(const AugmentJob& job) {
  return (job.size + kBlockRows - 1) / kBlockRows;
}

__global__ void __launch_bounds__(kRowThreads) augment_rows_kernel(AugmentJob job) {
  extern __shared__ std::int32_t shared[];
  const int blocks = blocks_of_sample(job), block = static_cast<int>(blockIdx.x);
  const int number = block / blocks;
  make_rows(ThreadBlock(), job, number, kBlockRows * (block - number * blocks), shared);
}

__global__ void __launch_bounds__(kStepThreads) augment_steps_kernel(AugmentJob job) {
  follow_steps(ThreadBlock(), job, static_cast<int>(blockIdx.x));
}

}  // namespace

int launch_augment(const AugmentJob& job, CUstream_st* stream) {
  if (job.count == 0) return 0;
  const auto count = static_cast<unsigned>(job.count);
  const auto bytes = sizeof(std::int32_t) * static_cast<unsigned>(shared_words(job.size));
  const unsigned blocks = count * static_cast<unsigned>(blocks_of_sample(job));
  augment_rows_kernel<<<blocks, kRowThreads, bytes, stream>>>(job);
  if (const cudaError_t failed = cudaGetLastError()) return static_cast<int>(failed);
  if (!job.has_steps) return 0;
  augment_steps_kernel<<<count, kStepThreads, 0, stream>>>(job);
  return static_cast<int>(cudaGetLastError());
}

}  // namespace loaderscope::cuda
