// Another program, run to its end for what it says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loaderscope/units.h"
#include "machine/child.h"

namespace loaderscope {

struct ToolRun {
  std::vector<std::string> command;
  std::string folder{};             // where it works; "": where we do
  Variables variables{};            // added to the environment
  Nanos patience = 0;               // 0: as long as it takes
  Nanos goodbye = kSecond;          // to end by itself once it is asked to
  std::function<bool()> stopped{};  // true: it is asked to end; may be empty
};

struct ToolEnd {
  int status = 0;            // as waitpid() gives it
  bool out_of_time = false;  // and ended for it
  std::string output;        // the end of what it printed, 64 KiB at most

  bool is_fine() const { return status == 0 && !out_of_time; }
  std::string last_line() const;  // of what it printed; "" of nothing
};

// Throws RunError when it cannot be started. What it leaves behind is ended.
ToolEnd run_tool(const ToolRun& run);

}  // namespace loaderscope
