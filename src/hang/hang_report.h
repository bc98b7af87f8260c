// The report of a loader that hangs.
#pragma once

#include <string>
#include <vector>

#include "hang/hang_facts.h"

namespace loaderscope::hang {

struct HangReport {
  std::string answer;               // the waiting process, the awaited process and its state
  std::vector<std::string> others;  // states of the other processes, a line each
  std::string cause;                // cause with its name; "": unknown
  std::string advice;               // against it

  std::vector<std::string> lines() const;  // all of it
};

HangReport report_of(const HangFacts& facts);

}  // namespace loaderscope::hang
