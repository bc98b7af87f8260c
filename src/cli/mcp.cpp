// loaderscope mcp
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cstdio>

#include "cli/command.h"
#include "cli/mcp_server.h"
#include "job/interrupt.h"
#include "job/version_text.h"

namespace loaderscope {
namespace {

ExitCode serve() {
  if (::isatty(STDIN_FILENO) == 1)
    throw UsageError("mcp: standard input is a terminal, and an agent must start this command",
                     "loaderscope help agents");
  const std::atomic<int>& stop_signal = catch_stop_signals();
  mcp::Server server(STDIN_FILENO, STDOUT_FILENO, std::string(version_number()), stop_signal);
  server.serve();
  return stop_signal == 0 ? ExitCode::ok : exit_code_of_signal(stop_signal);
}

}  // namespace

Action declare_mcp(CLI::App&) {
  return [] { return serve(); };
}

}  // namespace loaderscope
