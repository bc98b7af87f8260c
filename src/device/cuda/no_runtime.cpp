// Replaces the real runtime if no CUDA toolkit was found.
#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

std::shared_ptr<Runtime> real_runtime() { return nullptr; }

}  // namespace loaderscope::cuda
