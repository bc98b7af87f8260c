// Files that are part of the program, by their place below the private folder of a run.
#pragma once

#include <span>
#include <string_view>

namespace loaderscope::guest {

struct EmbeddedFile {
  std::string_view name;  // "python/sitecustomize.py"
  std::string_view content;
};

std::span<const EmbeddedFile> embedded_files();  // made by src/embed.cmake

}  // namespace loaderscope::guest
