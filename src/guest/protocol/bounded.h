// What a measured program says, which may be anything: names and sentences of any length, numbers
// of any size.
#pragma once

#include <cstdint>
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
// nlohmann::json::exception, as what follows does where a value is of another kind.
nlohmann::json parse_message(const std::string& text);

// What `message` says of `name`: "" where it says nothing.
std::string text_in(const nlohmann::json& message, const char* name,
                    std::size_t longest = kLongestName);

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
