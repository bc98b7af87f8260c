// The units of durations and sizes, as they are written and read.
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope {

struct Unit {
  std::string_view name;
  std::int64_t factor;
  int decimal_exponent;  // factor = 10^decimal_exponent, or -1
};

inline constexpr Unit kDurationUnits[] = {
    {"ns", 1, 0},
    {"us", 1'000, 3},
    {"ms", 1'000'000, 6},
    {"s", 1'000'000'000, 9},
    {"m", 60'000'000'000, -1},
    {"h", 3'600'000'000'000, -1},
    {"\u00b5s", 1'000, 3},  // read, never written
};
inline constexpr Unit kSizeUnits[] = {
    {"", 1, 0},
    {"KB", 1'000, 3},
    {"MB", 1'000'000, 6},
    {"GB", 1'000'000'000, 9},
    {"TB", 1'000'000'000'000, 12},
    {"PB", 1'000'000'000'000'000, 15},
    {"KiB", std::int64_t{1} << 10, -1},
    {"MiB", std::int64_t{1} << 20, -1},
    {"GiB", std::int64_t{1} << 30, -1},
    {"TiB", std::int64_t{1} << 40, -1},
    {"PiB", std::int64_t{1} << 50, -1},
    {"B", 1, 0},  // read, never written for sizes; the unit of rates
    {"kB", 1'000, 3},
};

// Texts with units, read: what people give.

namespace {

__extension__ using Wide = __int128;

constexpr const char* kDurationHelp = "expected a duration such as 12ms";
constexpr const char* kSizeHelp = "expected a size such as 64KiB or 38MB";
constexpr const char* kByteRateHelp = "expected a rate in bytes such as 100MB/s";
constexpr const char* kCountRateHelp = "expected a rate such as 1786/s";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number without sign and exponent, split at its point.
struct Decimal {
  std::string_view whole, fraction;  // digits
  std::string_view rest;             // text after the number
  bool ok = false;

  std::string_view text(std::string_view all) const {
    return all.substr(0, all.size() - rest.size());
  }
  bool is_zero() const {
    return whole.find_first_not_of('0') == whole.npos &&
           fraction.find_first_not_of('0') == fraction.npos;
  }
};

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

Decimal read_decimal(std::string_view text) {
  Decimal number;
  number.rest = text;
  number.whole = take_digits(number.rest);
  if (!number.rest.empty() && number.rest.front() == '.') {
    number.rest.remove_prefix(1);
    number.fraction = take_digits(number.rest);
    if (number.fraction.empty()) return number;
  }
  number.ok = !number.whole.empty() || !number.fraction.empty();
  return number;
}

const Unit* find_unit(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// number x factor, rounded to the nearest integer; false when it does not fit into an int64.
bool scaled(const Decimal& number, std::int64_t factor, std::int64_t& result) {
  constexpr Wide kLimit = std::numeric_limits<std::int64_t>::max();
  Wide whole = 0;
  for (char digit : number.whole) {
    whole = whole * 10 + (digit - '0');
    if (whole * factor > kLimit) return false;
  }
  // factor < 2^52 and 18 digits < 2^60 stay below 2^127; finer digits are less than any unit can
  // show.
  Wide part = 0, scale = 1;
  for (char digit : number.fraction.substr(0, 18)) {
    part = part * 10 + (digit - '0');
    scale *= 10;
  }
  const Wide rounded = (2 * part * factor + scale) / (2 * scale);
  const Wide total = whole * factor + rounded;
  if (total > kLimit) return false;
  result = static_cast<std::int64_t>(total);
  return true;
}

constexpr const char* kMissingUnit = "did you forget the unit?";

std::string unit_hint(std::string_view unit, std::span<const Unit> units) {
  std::vector<std::string_view> names;
  for (const Unit& known : units) {
    if (!known.name.empty()) names.push_back(known.name);
  }
  return suggestion(unit, names);
}

double to_double(std::string_view number, int exponent, const std::string& expected) {
  const std::string text = std::string(number) + "e" + std::to_string(exponent);
  const char* begin = text.data();
  double value = 0;
  // from_chars needs a digit before the point.
  const std::string padded = text.front() == '.' ? "0" + text : std::string();
  if (!padded.empty()) begin = padded.data();
  const char* end = begin + (padded.empty() ? text.size() : padded.size());
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) throw ValueError(expected);
  return value;
}

}  // namespace

Nanos parse_duration(std::string_view text) {
  const std::string expected = kDurationHelp;
  const Decimal number = read_decimal(text);
  if (!number.ok) throw ValueError(expected);
  if (number.rest.empty()) {
    if (number.is_zero()) return 0;
    throw ValueError(expected, kMissingUnit);
  }
  const Unit* unit = find_unit(number.rest, kDurationUnits);
  if (unit == nullptr) {
    throw ValueError(expected + " (ns, us, ms, s, m, h)" + unit_hint(number.rest, kDurationUnits));
  }
  Nanos result = 0;
  if (!scaled(number, unit->factor, result)) throw ValueError(expected + ", at most 292 years");
  if (result == 0 && !number.is_zero()) throw ValueError(expected + ", at least 1ns");
  return result;
}

Bytes parse_size(std::string_view text) {
  const std::string expected = kSizeHelp;
  const Decimal number = read_decimal(text);
  if (!number.ok) throw ValueError(expected);
  const Unit* unit = find_unit(number.rest, kSizeUnits);
  if (unit == nullptr) throw ValueError(expected + unit_hint(number.rest, kSizeUnits));
  if (number.rest.empty() && !number.fraction.empty()) {
    throw ValueError(expected, kMissingUnit);
  }
  Bytes result = 0;
  if (!scaled(number, unit->factor, result)) throw ValueError(expected + ", below 8EiB");
  if (result == 0 && !number.is_zero()) throw ValueError(expected + ", at least one byte");
  return result;
}

double parse_byte_rate(std::string_view text) {
  const std::string expected = kByteRateHelp;
  const Decimal number = read_decimal(text);
  if (!number.ok) throw ValueError(expected);
  if (number.rest.empty()) throw ValueError(expected, kMissingUnit);
  if (!number.rest.ends_with("/s")) throw ValueError(expected);
  const std::string_view name = number.rest.substr(0, number.rest.size() - 2);
  const Unit* unit = name.empty() ? nullptr : find_unit(name, kSizeUnits);
  if (unit == nullptr) throw ValueError(expected + unit_hint(name, kSizeUnits));
  const bool decimal = unit->decimal_exponent >= 0;
  const double value =
      to_double(number.text(text), decimal ? unit->decimal_exponent : 0, expected) *
      (decimal ? 1.0 : static_cast<double>(unit->factor));
  if (!(value > 0) || value > 1e18) throw ValueError(expected + ", above 0 and at most 1000PB/s");
  return value;
}

double parse_count_rate(std::string_view text) {
  const std::string expected = kCountRateHelp;
  const Decimal number = read_decimal(text);
  if (!number.ok) throw ValueError(expected);
  if (number.rest.empty()) throw ValueError(expected, "did you forget the '/s'?");
  if (number.rest != "/s") throw ValueError(expected);
  const double value = to_double(number.text(text), 0, expected);
  if (!(value > 0) || value > 1e18) throw ValueError(expected + ", above 0 and at most 10^18/s");
  return value;
}

std::int64_t parse_count(std::string_view text) {
  std::int64_t value = 0;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!digits) throw ValueError("expected a whole number such as 40");
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    throw ValueError("expected a whole number of at most 9223372036854775807");
  return value;
}

double parse_real(std::string_view text) {
  const std::string expected = "expected a number such as 0.5";
  const Decimal number = read_decimal(text);
  if (!number.ok || !number.rest.empty()) throw ValueError(expected);
  if (number.is_zero()) return 0;
  return to_double(text, 0, expected);
}

// Exact text of values with units, which is parsed back to the same value.

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
