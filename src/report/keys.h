// The names in the result JSON that more than one file must spell alike.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope::keys {

inline constexpr std::string_view kSchema = "loaderscope.run/1";
inline constexpr std::string_view kSchemaFamily = "loaderscope.run/";

// num-workers is num_workers in the JSON.
inline std::string of_field(std::string_view field) {
  std::string key(field);
  for (char& c : key) {
    if (c == '-') c = '_';
  }
  return key;
}

}  // namespace loaderscope::keys
