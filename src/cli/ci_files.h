// Files that `ci init` writes or prints, embedded from src/cli/ci/.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace loaderscope {

std::span<const EmbeddedFile> ci_files();  // made by src/embed.cmake

}  // namespace loaderscope
