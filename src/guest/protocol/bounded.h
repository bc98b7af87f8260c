// Checked input from a measured program, which may contain anything: names and sentences of any
// length, numbers of any size.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace loaderscope::guest {

inline constexpr std::size_t kMaxName = 160;      // bytes
inline constexpr std::size_t kMaxSentence = 500;  // bytes

// Removes the secrets of URLs. Cuts between two characters of UTF-8, and ends with dots.
inline std::string bounded_text(const std::string& whole, std::size_t longest = kMaxName) {
  std::string text = without_secrets(whole);
  constexpr std::string_view kDots = "...";
  if (text.size() <= longest) return text;
  std::size_t end = longest - kDots.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.replace(end, text.npos, kDots);
}

// Numbers are clamped to the range of counts and times. Throws ValueError if the text is not JSON
// or exceeds a limit. The functions below throw nlohmann::json::exception for a value of another
// type.
nlohmann::json parse_message(const std::string& text);

// Returns the text of field `name`, or "" if it is missing.
std::string read_text(const nlohmann::json& message, const char* name,
                      std::size_t longest = kMaxName);

struct Range {
  std::int64_t least, most;
};
// Returns `otherwise` if the field is missing. Throws ValueError for a number outside the range.
std::int64_t read_number(const nlohmann::json& message, const char* name, const Range& range,
                         std::int64_t otherwise);
// Returns the number clamped to the range, or `otherwise` if the field is missing.
std::int64_t read_clamped(const nlohmann::json& message, const char* name, const Range& range,
                          std::int64_t otherwise);

}  // namespace loaderscope::guest
