// Reasons why GPU 0 does not decode JPEG images, for `list` and for settings.
#pragma once

#include <optional>
#include <string>

#include "device/cuda/nvjpeg_library.h"
#include "device/cuda/runtime.h"
#include "loaderscope/units.h"

namespace loaderscope::cuda {

// Returns a sentence why nvJPEG cannot be used here. Returns nothing if it can. `runtime` may be
// null. Without a GPU, it does not look for nvJPEG.
std::optional<std::string> why_no_nvjpeg(Runtime* runtime, const FindNvjpeg& find);

// The same for the JPEG engines of GPU 0. It makes a handle of nvJPEG in a thread of its own. If
// the driver does not answer for `timeout`, that thread is left alone.
std::optional<std::string> why_no_engines(const std::shared_ptr<Runtime>& runtime,
                                          const FindNvjpeg& find, Nanos timeout);

}  // namespace loaderscope::cuda
