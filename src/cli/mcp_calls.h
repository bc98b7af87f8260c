// Calls of tools: each is a command of this program in a process of its own.
#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "cli/mcp_tools.h"
#include "machine/child_process.h"

namespace loaderscope::mcp {

class StartedCall {
 public:
  // Starts the command. Its JSON is saved at `json`. Throws RunError.
  StartedCall(const Tool& tool, const ToolCall& call, std::string json);

  // Returns true if the command has ended. Ends it if its time is over.
  bool has_ended();
  // Asks the command to end, as Ctrl-C does. It is killed if it takes longer than `goodbye`.
  void stop(Nanos goodbye);
  Nanos elapsed() const;
  // Returns the result of tools/call. Requires that the command has ended.
  Json result();

 private:
  const Tool& tool_;
  const std::string json_;
  const Nanos patience_, started_;
  Fd out_, err_;
  ChildProcess child_;
  bool is_out_of_time_ = false;
  Nanos kill_at_ = 0;  // 0: it was not asked to end
  int status_ = 0;
};

}  // namespace loaderscope::mcp
