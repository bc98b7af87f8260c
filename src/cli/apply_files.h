// The editor of Python sources, embedded from src/cli/apply/.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace loaderscope {

std::span<const EmbeddedFile> apply_files();  // made by src/embed.cmake

}  // namespace loaderscope
