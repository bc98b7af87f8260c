// The kernels as functions that launch them. They return the runtime's error code.
#pragma once

#include "device/cuda/runtime.h"

struct CUstream_st;

namespace loaderscope::cuda {

int launch_spin(const Spin& spin, CUstream_st* stream);
int launch_gate(const Gate& gate, CUstream_st* stream);
int launch_normalise(const Normalisation& job, CUstream_st* stream);
// Launches a second kernel if the batch has steps.
int launch_augment(const AugmentJob& job, CUstream_st* stream);
int launch_gemm(const Gemm& gemm, CUstream_st* stream);  // without a library: tiles, tensor cores

}  // namespace loaderscope::cuda
