// Figures of long sentences in the precision of a default answer.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Whole per cents and two significant digits of times and sizes: "48.3 %" becomes "48 %" and
// "8.876 ms" becomes "8.9 ms". Digits of names and settings stay.
std::string plain_figures(std::string_view text);

// A share in whole per cents. "under 1 %" if it is not 0 and rounds to 0.
std::string whole_percent(double share);

// A rate with its separators: "1,250", "31", "0.85".
std::string plain_rate(double per_second);

// True if the text has a word that no default answer may have, such as "capacity" or "p99".
bool has_technical_word(std::string_view text);

}  // namespace loaderscope
