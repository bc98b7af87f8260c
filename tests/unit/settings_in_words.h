// "workers=2 batch=8" as a scenario file has it, for tests.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "loaderscope/settings.h"

namespace loaderscope::test {

// The given settings, not resolved.
inline RunConfig given_in_words(std::string_view settings) {
  std::istringstream words{std::string(settings)};
  std::string lines, word;
  while (words >> word) {
    const auto equals = word.find('=');
    lines += word.substr(0, equals) + " = " + word.substr(equals + 1) + "\n";
  }
  RunConfig config;
  parse_scenario(lines, "case", config);
  return config;
}

}  // namespace loaderscope::test
