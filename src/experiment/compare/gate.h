// The consequence of a comparison for the job that asked for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

// Parses lines "decode = 12% until 2026-12-31 by ana: RandomErasing is wanted". Throws UsageError
// that names the line.
std::vector<Accepted> parse_accepted(std::string_view text, const std::string& path);

bool is_date(std::string_view text);  // YYYY-MM-DD, of a day that there is

enum class Gate : std::uint8_t {
  passes,
  fails,   // B is slower
  untold,  // the outcome is "cannot tell", which is not allowed
};

// One thing of which B has more than A: a stage, a wait, a quantity or a count.
struct Worse {
  std::string name;
  double at_least = 0;  // lower end of the 95 % interval, as a share of A or in shares
  bool fails = true;
  std::string why = {};  // reason why it does not fail, or fails although it was accepted
};

struct GateAnswer {
  Gate gate = Gate::passes;
  std::vector<Worse> worse;  // basis of the verdict, in the order of the judgement
  bool is_accepted = false;  // something fails nothing as it was accepted

  const Worse* find(std::string_view name) const;
};

// Applies the options and the accepted slowdowns. An accepted line covers its name, and the wait
// for a stage with that name. It covers totals as far as the accepted stages explain them.
GateAnswer decide_gate(const Comparison& comparison, const ComparisonResult& judgement);

}  // namespace loaderscope::compare
