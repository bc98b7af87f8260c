// Times, sizes and rates: the types that carry them, and their spelling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loaderscope {

using Nanos = std::int64_t;  // CLOCK_MONOTONIC or virtual time
using Bytes = std::int64_t;

inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

inline double seconds(Nanos ns) { return static_cast<double>(ns) / 1e9; }

// The parsers take the whole text or throw ValueError; they never accept a sign, nan, inf or a
// value that does not fit. A bare number has no unit and is refused, except 0.
Nanos parse_duration(std::string_view text);     // 250ns 3us 8ms 1.5s 2m 1h
Bytes parse_size(std::string_view text);         // 512 (bytes) 64KiB 38MB 2GiB 1.5GB
double parse_byte_rate(std::string_view text);   // 100MB/s 25GB/s 16GiB/s  -> bytes per second, > 0
double parse_count_rate(std::string_view text);  // 1786/s -> per second, > 0
std::int64_t parse_count(std::string_view text);  // 40, 1000000; decimal digits only
double parse_real(std::string_view text);         // 0.5, 2

// The shortest spelling that the parser reads back to the same value.
std::string duration_to_text(Nanos ns);
std::string size_to_text(Bytes bytes);
std::string byte_rate_to_text(double bytes_per_second);
std::string count_rate_to_text(double per_second);
std::string real_to_text(double value);

// Formats for people, with three or four significant digits and a fitting unit: "64.00 ms", "38.5
// MB", "25.0 GB/s".
std::string format_duration(Nanos ns);
std::string format_size(double bytes);
std::string format_byte_rate(double bytes_per_second);
std::string with_commas(std::string digits);                // digits with separators: 1,281,167 or
                                                            // 1,024.5
std::string format_count(std::int64_t n);                   // 1,281,167
std::string plural(std::int64_t n, std::string_view noun);  // 1 step, 20 steps, 2 batches

}  // namespace loaderscope
