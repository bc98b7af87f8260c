// Spelling of settings in JSON.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope::keys {

// num-workers is num_workers in the JSON.
inline std::string of_field(std::string_view field) {
  std::string key(field);
  for (char& c : key) {
    if (c == '-') c = '_';
  }
  return key;
}

}  // namespace loaderscope::keys
