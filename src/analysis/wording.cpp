#include "analysis/wording.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

namespace loaderscope {
namespace {

int decimals_of(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return 0;
  if (size >= 9.995) return 1;
  return 2;
}

std::string with_commas(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  std::size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  while (end > first + 3) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

std::string fixed(double value, int decimals) {
  return with_commas(fmt::format("{:.{}f}", value, decimals));
}

}  // namespace

std::string show_count(std::int64_t n) { return with_commas(fmt::format("{}", n)); }

std::string show_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string show_points(double half_width) { return fmt::format("±{:.1f}", 100 * half_width); }

std::string show_rate(double per_second) { return fixed(per_second, decimals_of(per_second)); }

std::string show_rate(const Estimate& rate) {
  const int decimals = decimals_of(rate.mean);
  return fmt::format("{} samples/s (±{})", fixed(rate.mean, decimals),
                     fixed(rate.half_width(), decimals));
}

std::string plural(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", show_count(n), noun, n == 1 ? "" : "s");
}

std::string capitalised(std::string sentence) {
  if (!sentence.empty()) {
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  }
  return sentence;
}

}  // namespace loaderscope
