#include "report/answer/plain_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr std::array<std::string_view, 15> kTechnicalWords = {
    "capacity", "depth", "opaque", "share of", "stall",   "hidden",   "sets the pace", "gives back",
    "p50",      "p99",   "±",      "in vain",  "chiefly", "serialis", "the pace"};

constexpr std::array<std::string_view, 16> kRoundedUnits = {
    " ns", " us", " µs", " ms", " s",  " min",  " h",    " B",
    " KB", " MB", " GB", " TB", "B/s", " KB/s", " MB/s", " GB/s"};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool begins_unit(std::string_view rest) {
  return std::any_of(kRoundedUnits.begin(), kRoundedUnits.end(), [&](std::string_view unit) {
    if (!rest.starts_with(unit)) return false;
    const char next = rest.size() > unit.size() ? rest[unit.size()] : ' ';
    return std::isalpha(static_cast<unsigned char>(next)) == 0;
  });
}

// Two significant digits, and all digits before the point.
std::string two_digits(double value) {
  if (value <= 0) return "0";
  const double size = std::floor(std::log10(value));
  const int decimals = static_cast<int>(std::clamp(1 - size, 0.0, 3.0));
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') == text.npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string plain_figures(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins =
        is_digit(text[i]) &&
        (i == 0 || (std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0 &&
                    text[i - 1] != '.' && text[i - 1] != '_' && text[i - 1] != '='));
    if (!begins) {
      result += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() &&
           (is_digit(text[end]) ||
            (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1]))))
      ++end;
    const std::string_view digits = text.substr(i, end - i), rest = text.substr(end);
    double value = 0;
    const bool is_number =
        std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc();
    const bool has_point = digits.find('.') != digits.npos;
    if (is_number && has_point && rest.starts_with(" %"))
      result += value > 0 && value < 0.5 ? "under 1" : fmt::format("{:.0f}", value);
    else if (is_number && has_point && begins_unit(rest))
      result += two_digits(value);
    else
      result += digits;
    i = end;
  }
  return result;
}

std::string whole_percent(double share) {
  const double points = 100 * share;
  return points > 0 && points < 0.5 ? "under 1 %" : fmt::format("{:.0f} %", points);
}

std::string plain_rate(double per_second) {
  if (per_second >= 999.5) {
    // Three digits are enough for a rate, and separators make it readable.
    const double step = std::pow(10, std::floor(std::log10(per_second)) - 2);
    const auto rounded =
        static_cast<std::int64_t>(std::llround(std::round(per_second / step) * step));
    std::string text = std::to_string(rounded);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
      text.insert(static_cast<std::size_t>(at), ",");
    return text;
  }
  if (per_second >= 10) return fmt::format("{:.0f}", per_second);
  return two_digits(per_second);
}

bool has_technical_word(std::string_view text) {
  // A part of an id, such as --prefetch-depth, names a setting.
  const auto is_of_id = [&](std::size_t begin, std::size_t end) {
    const auto joins = [](char c) { return c == '-' || c == '_'; };
    return (begin > 0 && joins(text[begin - 1])) || (end < text.size() && joins(text[end]));
  };
  return std::any_of(kTechnicalWords.begin(), kTechnicalWords.end(), [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
      if (!is_of_id(at, at + word.size())) return true;
    return false;
  });
}

}  // namespace loaderscope
