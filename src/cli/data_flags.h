// Flags of `data` as given: the data set's own parsers read them.
#pragma once

#include <string>
#include <string_view>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope {

// Does nothing for an empty text. Throws UsageError that names the flag.
template <class Target, class Parse>
void read_flag(const std::string& text, const char* flag, Target& target, Parse parse) {
  if (text.empty()) return;
  try {
    target = static_cast<Target>(parse(text));
  } catch (const ValueError& error) {
    throw add_place<UsageError>(std::string(flag) + " " + shown_text(text) + ": ", error);
  }
}

inline int parse_small_count(std::string_view text) {
  const std::int64_t count = parse_count(text);
  if (count > 1'000'000) throw ValueError("expected at most 1000000");
  return static_cast<int>(count);
}

}  // namespace loaderscope
