// What is said of a loader that hangs.
#pragma once

#include <string>
#include <vector>

#include "guest/host/hang/hang_facts.h"

namespace loaderscope::guest {

struct HangReport {
  std::string answer;               // who waits for whom, and where that one stands
  std::vector<std::string> others;  // a line each: processes, the cause, what to do
  std::string cause;                // as in `others`; "": none that is known
  std::string advice;               // likewise
};

HangReport report_of(const HangFacts& facts);

}  // namespace loaderscope::guest
