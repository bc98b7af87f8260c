#include <cuda_runtime.h>
#include <mma.h>

#include "device/cuda/kernels.h"

namespace loaderscope::cuda {
namespace {

constexpr Nanos kLookEvery = 50'000;  // a look at host memory costs about 1 us
constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 1024, kMaxRows = 65535;  // limits of a grid

__device__ Nanos device_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return static_cast<Nanos>(now);
}

__global__ void spin_kernel(Spin spin) {
  const Nanos begin = device_now();
  const Nanos duration = spin.variable ? *spin.variable : spin.duration;
  Nanos look = kLookEvery;
  for (;;) {
    const Nanos passed = device_now() - begin;
    if (passed >= duration) return;
    if (spin.abort == nullptr || passed < look || duration - passed < kLookEvery / 5) continue;
    if (*spin.abort != 0) return;
    look = passed + kLookEvery;
  }
}

__global__ void gate_kernel(Gate gate) {
  gate.arrived[gate.rank] = gate.step;
  __threadfence_system();
  for (int other = 0; other < gate.ranks; ++other) {
    while (gate.arrived[other] < gate.step) {
      if (*gate.abort != 0) return;
    }
  }
}

// A row of blocks per plane: which image and channel a value belongs to takes no division of 64
// bits.
__global__ void normalise_kernel(Normalisation job) {
  const auto planes = static_cast<std::uint32_t>(3 * job.images);
  const auto pixels = static_cast<std::uint32_t>(job.pixels);
  for (std::uint32_t number = blockIdx.y; number < planes; number += gridDim.y) {
    const Plane plane = make_plane(job, number);
    float* floats = job.floats + static_cast<std::int64_t>(number) * pixels;
    for (std::uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x; pixel < pixels;
         pixel += gridDim.x * blockDim.x) {
      floats[pixel] = normalised(plane, pixel);
    }
  }
}

// One warp per tile of 16 x 16 of the result.
__global__ void gemm_kernel(Gemm gemm) {
  using namespace nvcuda::wmma;
  const int row = 16 * static_cast<int>(blockIdx.y);
  const int column = 16 * static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  const auto* a = static_cast<const __half*>(gemm.a) + static_cast<std::int64_t>(row) * gemm.size;
  const auto* b = static_cast<const __half*>(gemm.b) + column;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < gemm.size; k += 16) {
    load_matrix_sync(left, a + k, static_cast<unsigned>(gemm.size));
    load_matrix_sync(right, b + static_cast<std::int64_t>(k) * gemm.size,
                     static_cast<unsigned>(gemm.size));
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(
      static_cast<float*>(gemm.c) + static_cast<std::int64_t>(row) * gemm.size + column, sum,
      static_cast<unsigned>(gemm.size), mem_row_major);
}

int launched() { return static_cast<int>(cudaGetLastError()); }

}  // namespace

int launch_spin(const Spin& spin, CUstream_st* stream) {
  spin_kernel<<<1, 1, 0, stream>>>(spin);
  return launched();
}

int launch_gate(const Gate& gate, CUstream_st* stream) {
  gate_kernel<<<1, 1, 0, stream>>>(gate);
  return launched();
}

int launch_normalise(const Normalisation& job, CUstream_st* stream) {
  if (job.values() == 0) return 0;
  const auto at_most = [](std::int64_t most, std::int64_t wanted) {
    return static_cast<unsigned>(wanted < most ? wanted : most);
  };
  const dim3 grid(at_most(kMaxBlocks, (job.pixels + kThreads - 1) / kThreads),
                  at_most(kMaxRows, 3 * job.images));
  normalise_kernel<<<grid, kThreads, 0, stream>>>(job);
  return launched();
}

int launch_gemm(const Gemm& gemm, CUstream_st* stream) {
  const auto size = static_cast<unsigned>(gemm.size);
  gemm_kernel<<<dim3(size / 64, size / 16), dim3(32, 4), 0, stream>>>(gemm);
  return launched();
}

}  // namespace loaderscope::cuda
