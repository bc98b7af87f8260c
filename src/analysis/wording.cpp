#include "analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace loaderscope {
namespace {

int count_decimals(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return 0;
  if (size >= 9.995) return 1;
  return 2;
}

std::string fixed(double value, int decimals) {
  return with_commas(fmt::format("{:.{}f}", value, decimals));
}

double longer_side(const Estimate& estimate) {
  return std::max(estimate.mean - estimate.low, estimate.high - estimate.mean);
}

}  // namespace

std::string format_cores(double cores) {
  constexpr double kWhole = 100;  // fractions are not printed from here on
  const std::string text =
      cores >= kWhole ? fmt::format("{:.0f}", cores) : fmt::format("{:.3g}", cores);
  return text + (text == "1" ? " core" : " cores");
}

std::string format_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string format_rate(double per_second) { return fixed(per_second, count_decimals(per_second)); }

std::string format_rate(const Estimate& rate) {
  const int decimals = count_decimals(rate.mean);
  return fmt::format("{} samples/s ({})", fixed(rate.mean, decimals),
                     format_interval(rate, decimals));
}

bool is_even(const Estimate& estimate, int decimals) {
  constexpr double kAlike = 0.2;  // share of the longer side
  const double below = estimate.mean - estimate.low, above = estimate.high - estimate.mean;
  const double longer = longer_side(estimate), last_digit = std::pow(10, -decimals);
  const bool is_clipped = estimate.low >= 0 && longer > estimate.mean + last_digit;
  return std::abs(above - below) <= std::max(kAlike * longer, last_digit) && !is_clipped;
}

std::string format_interval(const Estimate& estimate, int decimals) {
  if (is_even(estimate, decimals)) return "±" + fixed(longer_side(estimate), decimals);
  return fixed(estimate.low, decimals) + "-" + fixed(estimate.high, decimals);
}

std::string format_interval(const Estimate& share) {
  return format_interval({100 * share.mean, 100 * share.low, 100 * share.high}, 1);
}

std::string roughly_to_text(Nanos ns) {
  constexpr Nanos kThreeDigits = 1000;
  Nanos unit = 1;
  while (ns / unit >= kThreeDigits) unit *= 10;
  return duration_to_text(ns / unit * unit);
}

std::string_view shown_name(std::string_view name) {
  return name == name_of(Cause::opaque) ? "own code" : name;
}

std::string_view shown_name(std::string_view name, const RunConfig& config) {
  const bool is_closed = config.loader.executor == Executor::opaque;
  return is_closed && name == name_of(Cause::opaque) ? "loader" : shown_name(name);
}

std::string capitalised(std::string sentence) {
  if (!sentence.empty()) {
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  }
  return sentence;
}

}  // namespace loaderscope
