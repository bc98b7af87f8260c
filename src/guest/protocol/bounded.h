// What a measured program says, which may be anything: names and sentences of any length, numbers
// of any size.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace loaderscope::guest {

inline constexpr std::size_t kMaxName = 160;      // bytes
inline constexpr std::size_t kMaxSentence = 500;  // likewise

// Without the secrets of URLs. Cut between two characters of UTF-8, with dots in place of the rest.
inline std::string bounded_text(const std::string& whole, std::size_t longest = kMaxName) {
  std::string text = without_secrets(whole);
  constexpr std::string_view kDots = "...";
  if (text.size() <= longest) return text;
  std::size_t end = longest - kDots.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.replace(end, text.npos, kDots);
}

// Numbers are clamped to the range of our counts and times. Throws ValueError if the text is no
// JSON or exceeds a limit. What follows throws nlohmann::json::exception for a value of another
// kind.
nlohmann::json parse_message(const std::string& text);

// What `message` says of `name`: "" where it says nothing.
std::string text_in(const nlohmann::json& message, const char* name,
                    std::size_t longest = kMaxName);

struct Range {
  std::int64_t least, most;
};
// `otherwise`: where it says nothing. Throws ValueError for a number beyond the range.
std::int64_t number_in(const nlohmann::json& message, const char* name, const Range& range,
                       std::int64_t otherwise);
// Likewise, brought into range.
std::int64_t clamped_in(const nlohmann::json& message, const char* name, const Range& range,
                        std::int64_t otherwise);

}  // namespace loaderscope::guest
