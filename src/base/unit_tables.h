// The units of durations and sizes, as they are written and read.
#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace loaderscope
