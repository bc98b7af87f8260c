// What a comparison means for the job that asked for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

enum class Gate : std::uint8_t {
  passes,
  fails,   // B is slower
  untold,  // it cannot be told, and must be
};

// One thing of which B has more than A: a stage, a wait, a quantity or a count.
struct Worse {
  std::string name;
  double at_least = 0;  // by so much, as a share of A or in shares: the near end of 95 %
  bool fails = true;
  std::string why = {};  // it does not fail, or fails though it was accepted
};

struct GateAnswer {
  Gate gate = Gate::passes;
  std::vector<Worse> worse;  // what the verdict is of, in the order of the judgement
  bool is_accepted = false;  // something fails nothing as it was accepted

  const Worse* find(std::string_view name) const;
};

// By what the options ask for, and what was accepted: a line is of what it names, of the wait for a
// stage that it names, and of the totals as far as the accepted stages explain them.
GateAnswer gate_of(const Comparison& comparison, const ComparisonResult& judgement);

}  // namespace loaderscope::compare
