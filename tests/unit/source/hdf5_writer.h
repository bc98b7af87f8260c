// HDF5 files for tests, by its library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "built_with.h"

namespace loaderscope::source {

// Writes a data set "rows" of bytes, in chunks that zlib has packed, or in one piece. Without
// `bytes` its rows are not written.
using Side = unsigned long long;  // hsize_t
void write_hdf5_file(const std::string& path, std::string_view bytes, const std::vector<Side>& axes,
                     const std::vector<Side>& chunk);
inline constexpr auto write_hdf5 = if_built(built_with::kHdf5, write_hdf5_file);

}  // namespace loaderscope::source
