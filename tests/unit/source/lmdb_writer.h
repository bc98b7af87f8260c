// LMDB files for tests, by its library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "built_with.h"

namespace loaderscope::source {

void write_lmdb_file(const std::string& path,
                     std::vector<std::pair<std::string, std::string>> values);
inline constexpr auto write_lmdb = if_built(built_with::kLmdb, write_lmdb_file);

}  // namespace loaderscope::source
