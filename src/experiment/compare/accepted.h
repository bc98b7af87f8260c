// Slowdowns that somebody has accepted: a file of the repository, reviewed like its code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::compare {

struct Accepted {
  std::string name;    // name of a stage, a wait, a quantity or a count
  double at_most = 0;  // 0.12 is 12 % more than A has
  std::string until;   // the last day, "2026-12-31"
  std::string author, reason;
};

// Parses lines "decode = 12% until 2026-12-31 by ana: RandomErasing is wanted". Throws UsageError
// that names the line.
std::vector<Accepted> parse_accepted(std::string_view text, const std::string& path);

bool is_date(std::string_view text);  // YYYY-MM-DD, of a day that there is

}  // namespace loaderscope::compare
