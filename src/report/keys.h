// Spelling of settings in JSON.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope::keys {

inline constexpr std::string_view kConfigSentence =
    "settings in force, named as flags with _ for -, with numbers as numbers, switches as "
    "booleans, "
    "repeatable settings as arrays and others as their text; null: not set";
inline constexpr std::string_view kConfigGivenSentence =
    "settings that the user gave; the others are defaults or follow from the machine";

// num-workers is num_workers in the JSON.
inline std::string field_key(std::string_view field) {
  std::string key(field);
  for (char& c : key) {
    if (c == '-') c = '_';
  }
  return key;
}

}  // namespace loaderscope::keys
