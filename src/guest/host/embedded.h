// Files that are part of the program, by their place below the private folder of a run.
#pragma once

#include "base/embedded_file.h"

namespace loaderscope::guest {

std::span<const EmbeddedFile> embedded_files();  // made by src/embed.cmake

}  // namespace loaderscope::guest
