// Translates a failed call of the CUDA runtime into one sentence for the user.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

// "PLACE: CAUSE (cudaErrorX); NEXT STEP".
std::string sentence(std::string_view place, const Status& status);

// Throws RunError with the sentence unless `status` is ok.
void check(std::string_view place, const Status& status);

// Returns why no GPU can be used here, and what to do about it; nothing if one can.
std::optional<std::string> why_no_gpu(Runtime* runtime);

// Returns the same, but only if a driver exists and does not hide its GPUs on purpose. The user
// does not expect that case.
std::optional<std::string> why_gpu_unusable(Runtime* runtime);

}  // namespace loaderscope::cuda
