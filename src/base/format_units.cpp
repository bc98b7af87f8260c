// Values with units, shown to people: rounded, and in the unit that is read most easily.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "loaderscope/units.h"

namespace loaderscope {
namespace {

// Formats at most `digits` significant digits, and at least the digits before the point.
std::string significant(double value, int digits) {
  int before_point = value < 1 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
  std::array<char, 64> buffer;
  for (;;) {
    const int decimals = std::max(0, digits - before_point);
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                      std::chars_format::fixed, decimals);
    std::string text(buffer.data(), result.ptr);
    // 9.9996 becomes 10.000: one digit too many.
    const auto point = text.find('.');
    const int now = static_cast<int>(point == text.npos ? text.size() : point);
    if (now <= before_point || decimals == 0) return text;
    before_point = now;
  }
}

struct ShownUnit {
  const char* name;
  double factor;
};

std::string show(double value, std::span<const ShownUnit> units, int digits) {
  const ShownUnit* unit = &units.front();
  for (const ShownUnit& next : units) {
    // A value that would round up to one larger unit uses that unit.
    if (value >= next.factor * (1 - 0.5 * std::pow(10, -digits))) unit = &next;
  }
  const bool is_smallest = unit == &units.front();  // has no decimals
  return significant(value / unit->factor, is_smallest ? 1 : digits) + " " + unit->name;
}

}  // namespace

std::string format_duration(Nanos ns) {
  static constexpr ShownUnit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  if (ns < 0)
    return "-" + format_duration(ns == std::numeric_limits<Nanos>::min()
                                     ? std::numeric_limits<Nanos>::max()
                                     : -ns);
  const double value = static_cast<double>(ns);
  // Minutes, hours and days begin at two of them.
  if (ns >= 172800 * kSecond) return significant(value / 86400e9, 4) + " d";
  if (ns >= 7200 * kSecond) return significant(value / 3600e9, 4) + " h";
  if (ns >= 120 * kSecond) return significant(value / 60e9, 4) + " min";
  return show(value, units, 4);
}

std::string format_size(double bytes) {
  static constexpr ShownUnit units[] = {{"B", 1},    {"KB", 1e3},  {"MB", 1e6},
                                        {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}};
  if (bytes < 0) return "-" + format_size(-bytes);
  return show(bytes, units, 3);
}

std::string format_byte_rate(double bytes_per_second) {
  return format_size(bytes_per_second) + "/s";
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

std::string format_count(std::int64_t n) { return with_commas(std::to_string(n)); }

std::string plural(std::int64_t n, std::string_view noun) {
  const bool hisses = noun.ends_with("tch") || noun.ends_with('s');
  return format_count(n) + " " + std::string(noun) + (n == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace loaderscope
