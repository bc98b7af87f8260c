// NumPy arrays as samples: each is a row of the first axis, or a window of several rows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "source/arrays.h"

namespace loaderscope::source {

inline constexpr std::string_view kNpySuffixes[] = {".npy"};

// Parses the header of a .npy file. Throws ValueError, which continues "PATH: ", unless it is an
// array of numbers stored row by row.
ArrayLayout parse_npy_header(std::span<const std::byte> file_begin);
inline constexpr std::size_t kMaxNpyHeader = 64 << 10;

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for parameters that do not fit the arrays.
std::unique_ptr<Source> open_npy(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
