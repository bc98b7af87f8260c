// Files of /proc and of cgroups that hold a number behind each key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace loaderscope {

// The number behind `key` in a file of "key value" or "key: value unit" lines.
std::optional<std::int64_t> value_in(const std::string& path, const std::string& key);

}  // namespace loaderscope
