// A file of a program's source, and a digest by which a later command knows that it is the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

namespace loaderscope {

struct SourceFile {
  std::string content;
  Nanos changed = 0;  // time of the last change, of CLOCK_REALTIME
};

// Returns nothing if `path` is no regular file, is larger than 16 MiB or cannot be read.
std::optional<SourceFile> read_source_file(const std::string& path);

// Returns 16 hexadecimal digits.
std::string source_digest(std::string_view content);

}  // namespace loaderscope
