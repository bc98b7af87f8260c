// What a failed call of the CUDA runtime means to the user: one sentence, in one place.
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

// Why no GPU can be used here, and what to do about it, as a sentence; nothing when one can.
std::optional<std::string> why_no_gpu(Runtime* runtime);

// The same, where there is a driver and it hides no GPU on purpose: nobody expects that.
std::optional<std::string> why_gpu_unusable(Runtime* runtime);

}  // namespace loaderscope::cuda
