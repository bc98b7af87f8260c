// In place of the real runtime where no CUDA toolkit was found.
#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

std::shared_ptr<Runtime> real_runtime() { return nullptr; }

}  // namespace loaderscope::cuda
