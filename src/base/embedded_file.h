// Files that are data of the program; src/embed.cmake makes the functions that give them.
#pragma once

#include <span>
#include <string_view>

namespace loaderscope {

struct EmbeddedFile {
  std::string_view
      name;  // below the folder that it was taken from, such as "python/sitecustomize.py"
  std::string_view content;
  std::string_view sha256;  // hash of the content, in hexadecimal digits
};

}  // namespace loaderscope
