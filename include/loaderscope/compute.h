// What a step computes on the device: how long, and by which kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "loaderscope/cost.h"
#include "loaderscope/rows.h"

namespace loaderscope {

// --compute [gemm:]DURATION | [gemm:]PRESET. The distribution is that of a step's time in ns.
struct Compute : Distribution {
  bool gemm = false;           // matrix products instead of a kernel that spins
  std::string preset{};        // "" for a time that was given
  std::int64_t per_batch = 0;  // samples whose time it is; 0: of a batch, whatever its size
};

// The time that a training step of a known model takes on a known GPU.
struct ComputePreset {
  Row row;
  Nanos time;
  std::int64_t batch_size;
};

std::span<const ComputePreset> compute_presets();  // src/base/compute.cpp

Compute parse_compute(std::string_view text);  // throws ValueError
std::string spell_compute(const Compute& compute);

}  // namespace loaderscope
