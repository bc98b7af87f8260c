// Parameters of --data for formats whose files hold several samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "source/options.h"

namespace loaderscope::source {

// Returns the files of `paths`, in this order: a file itself, the files of a folder with one of
// `suffixes`, and all files of a pattern ("/a/{000..127}.tar", "/a/{train,val}.tar"). Throws
// RunError if a path is missing or of another type.
std::vector<std::string> named_files(const std::vector<std::string>& paths,
                                     std::span<const std::string_view> suffixes);

// Returns "" if the parameter is missing.
std::string text_parameter(const FormatParameters& words, std::string_view name);

// Returns a whole number of at least `least`, or `otherwise` if the parameter is missing. Throws
// UsageError.
std::int64_t count_parameter(const FormatParameters& words, std::string_view name,
                             std::int64_t otherwise, std::int64_t least = 1);

}  // namespace loaderscope::source
