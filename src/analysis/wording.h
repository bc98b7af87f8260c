// Format of numbers in sentences and tables, with the precision that an answer needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "loaderscope/analysis.h"

namespace loaderscope {

inline constexpr double kMinReportedShare = 0.01;  // share of the window; less is left out

std::string format_cores(double cores);         // 1 core, 2.5 cores
std::string format_percent(double share);       // 75.0 %
std::string format_rate(double per_second);     // 8,780 or 125 or 31.2 or 0.85
std::string format_rate(const Estimate& rate);  // 125 samples/s (±1)

// Returns true if the interval reaches about as far to both sides, and not below 0.
bool is_even(const Estimate& estimate, int decimals);
// Formats the interval of an estimate: "±0.4" if it reaches about as far to both sides, otherwise
// its ends, "0.0-100.0".
std::string format_interval(const Estimate& estimate, int decimals);
std::string format_interval(const Estimate& share);  // unit: percentage points

// Formats a setting's value with three digits, rounded down: 78.1us for 78.125us.
std::string roughly_to_text(Nanos ns);

// Returns the name of a cause or a stage in text: "own code" for opaque. Other names stay.
std::string_view shown_name(std::string_view name);
// Does the same for a run: "loader" for opaque if nothing inside the loader was seen.
std::string_view shown_name(std::string_view name, const RunConfig& config);

// Returns the sentence with a capital first letter.
std::string capitalised(std::string sentence);

}  // namespace loaderscope
