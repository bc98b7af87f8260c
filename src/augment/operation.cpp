#include "augment/operation.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope::augment {
namespace {

constexpr std::string_view kDots = "..";

[[noreturn]] void refuse(std::string_view text, std::string_view what, std::string_view form,
                         Range allowed) {
  throw ValueError("expected " + std::string(what) + " as " + std::string(form) + " within " +
                   real_to_text(std::abs(allowed.low)).insert(0, allowed.low < 0 ? "-" : "") +
                   " and " + real_to_text(allowed.high) + ", not '" + shown_text(text) + "'");
}

// parse_real takes no sign.
double parse_signed(std::string_view text) {
  return text.starts_with('-') ? -parse_real(text.substr(1)) : parse_real(text);
}

// Returns true if `text` is a number within `allowed`.
bool read_number(std::string_view text, Range allowed, double& value) {
  try {
    value = parse_signed(text);
  } catch (const ValueError&) {
    return false;
  }
  return value >= allowed.low && value <= allowed.high;
}

}  // namespace

std::vector<std::string_view> split_parameters(std::string_view text, std::size_t most) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    pieces.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (text.empty())
      pieces.push_back(text);  // a colon at the end: an empty value, refused as such
  }
  if (pieces.size() > most) {
    throw ValueError("expected at most " + std::to_string(most) +
                     (most == 1 ? " parameter" : " parameters between colons") + ", not " +
                     std::to_string(pieces.size()));
  }
  return pieces;
}

double parse_number(std::string_view text, std::string_view what, Range allowed) {
  double value = 0;
  if (!read_number(text, allowed, value)) refuse(text, what, "a number", allowed);
  return value;
}

Range parse_range(std::string_view text, std::string_view what, Range allowed) {
  const std::size_t dots = text.find(kDots);
  Range range;
  if (dots == std::string_view::npos || !read_number(text.substr(0, dots), allowed, range.low) ||
      !read_number(text.substr(dots + kDots.size()), allowed, range.high) ||
      range.low > range.high) {
    refuse(text, what, "a range MIN..MAX", allowed);
  }
  return range;
}

Range parse_spread(std::string_view text, std::string_view what, double centre, Range allowed) {
  if (text.find(kDots) != std::string_view::npos) return parse_range(text, what, allowed);
  const double spread = parse_number(text, what, {0, allowed.high});
  return {std::max(centre - spread, allowed.low), std::min(centre + spread, allowed.high)};
}

}  // namespace loaderscope::augment
