// Exact text of values with units, which is parsed back to the same value.
#include <array>
#include <charconv>
#include <span>

#include "base/unit_tables.h"
#include "loaderscope/units.h"

namespace loaderscope {
namespace {

std::string shortest(double value) {
  std::array<char, 512> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return std::string(buffer.data(), result.ptr);
}

// value / factor in decimal digits when that is finite and short, else "".
std::string divided(std::int64_t value, const Unit& unit) {
  const std::int64_t whole = value / unit.factor;
  const std::int64_t rest = value % unit.factor;
  if (rest == 0) return std::to_string(whole);
  if (unit.decimal_exponent < 0) return "";
  std::string fraction = std::to_string(rest);
  fraction.insert(0, static_cast<std::size_t>(unit.decimal_exponent) - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return std::to_string(whole) + "." + fraction;
}

std::string spell(std::int64_t value, std::span<const Unit> units) {
  if (value == 0) return "0";
  std::string best;
  for (const Unit& unit : units) {
    const std::string number = divided(value, unit);
    if (number.empty()) continue;
    const std::string text = number + std::string(unit.name);
    const bool is_plainer = text.size() == best.size() && number.find('.') == number.npos;
    if (best.empty() || text.size() < best.size() || is_plainer) best = text;
  }
  return best;
}

}  // namespace

std::string duration_to_text(Nanos ns) { return spell(ns, std::span(kDurationUnits).first(6)); }

std::string size_to_text(Bytes bytes) { return spell(bytes, std::span(kSizeUnits).first(11)); }

std::string byte_rate_to_text(double bytes_per_second) {
  std::string best = shortest(bytes_per_second) + "B/s";
  for (const Unit& unit : std::span(kSizeUnits).subspan(1, 10)) {
    const std::string text = shortest(bytes_per_second / static_cast<double>(unit.factor)) +
                             std::string(unit.name) + "/s";
    if (text.size() < best.size() && parse_byte_rate(text) == bytes_per_second) best = text;
  }
  return best;
}

std::string count_rate_to_text(double per_second) { return shortest(per_second) + "/s"; }

std::string real_to_text(double value) { return shortest(value); }

}  // namespace loaderscope
