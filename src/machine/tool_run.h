// Another program, run to its end for what it says.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "loaderscope/units.h"
#include "machine/child_process.h"

namespace loaderscope {

struct ToolRun {
  std::vector<std::string> command;
  std::string folder{};             // working folder; "": ours
  Variables variables{};            // added to the environment
  Nanos patience = 0;               // 0: as long as it takes
  Nanos goodbye = kSecond;          // time to end by itself after a request
  std::function<bool()> stopped{};  // true: it is asked to end; may be empty
  ProcessGroup group = ProcessGroup::own;
};

struct ToolEnd {
  int status = 0;            // status from waitpid()
  bool out_of_time = false;  // and ended for it
  std::string output;        // the end of what it printed, 64 KiB at most

  bool is_fine() const { return status == 0 && !out_of_time; }
  std::string last_line() const;  // last line of the output; "" if it is empty
};

// A tool that was started. Several may run at once. Processes that it leaves are ended.
class StartedTool {
 public:
  explicit StartedTool(ToolRun run);  // throws RunError when it cannot be started

  bool has_ended() { return child_.status().has_value(); }
  ToolEnd wait();

 private:
  std::optional<int> await(Nanos until, const std::function<bool()>& stopped);

  ToolRun run_;
  Fd output_;
  ChildProcess child_;
  Nanos until_;
};

inline ToolEnd run_tool(const ToolRun& run) { return StartedTool(run).wait(); }

// Checks that `python3` has the modules of an engine; --python names another interpreter.
std::optional<std::string> no_webdataset();
std::optional<std::string> no_dali();

}  // namespace loaderscope
