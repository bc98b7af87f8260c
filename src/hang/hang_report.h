// What is said of a loader that hangs.
#pragma once

#include <string>
#include <vector>

#include "hang/hang_facts.h"

namespace loaderscope::hang {

struct HangReport {
  std::string answer;               // who waits for whom, and where that one stands
  std::vector<std::string> others;  // where the other processes stand, a line each
  std::string cause;                // with its name; "": none that is known
  std::string advice;               // against it

  std::vector<std::string> lines() const;  // all of it
};

HangReport report_of(const HangFacts& facts);

}  // namespace loaderscope::hang
