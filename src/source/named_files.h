// What the texts of --data say to formats whose files hold several samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "source/options.h"

namespace loaderscope::source {

// The files that `paths` name, in this order: a file itself, of a folder those that end with
// one of `suffixes`, and all that a pattern stands for ("/a/{000..127}.tar", "/a/{train,val}.tar").
// Throws RunError for what is not there, or is neither.
std::vector<std::string> named_files(const std::vector<std::string>& paths,
                                     std::span<const std::string_view> suffixes);

// "" where it was not given.
std::string text_parameter(const FormatParameters& words, std::string_view name);

// The whole number of a word, at least `least`; `otherwise` where it was not given. Throws
// UsageError.
std::int64_t count_parameter(const FormatParameters& words, std::string_view name,
                             std::int64_t otherwise, std::int64_t least = 1);

}  // namespace loaderscope::source
