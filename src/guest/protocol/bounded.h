// What a measured program says, which may be anything: names and sentences of any length, numbers
// of any size.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace loaderscope::guest {

inline constexpr std::size_t kLongestName = 160;      // bytes
inline constexpr std::size_t kLongestSentence = 500;  // likewise

// Cut between two characters of UTF-8, with dots in place of the rest.
inline std::string bounded_text(std::string text, std::size_t longest = kLongestName) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= longest) return text;
  std::size_t end = longest - kDots.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.replace(end, text.npos, kDots);
}

// A number that no count or time of ours can hold is as large as one can be. Throws
// nlohmann::json::exception.
nlohmann::json parse_message(const std::string& text);

}  // namespace loaderscope::guest
