// Scenarios that `demo` runs, embedded from scenarios/.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace loaderscope {

std::span<const EmbeddedFile> demo_files();  // made by src/embed.cmake

}  // namespace loaderscope
