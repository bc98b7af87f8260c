#include "cli/command.h"

namespace loaderscope {

std::span<const Command> command_table() {
  static const Command commands[] = {
      {{"run", "Run one configuration and say what the device waited for."}, declare_run},
      {{"report", "Show a saved result, also in another form."}, declare_report},
      {{"list", "Every row of every family, and why one is not available here."}, declare_list},
  };
  return commands;
}

}  // namespace loaderscope
