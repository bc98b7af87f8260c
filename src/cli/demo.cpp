// loaderscope demo
#include <array>
#include <cstdio>
#include <string>

#include "cli/command.h"

namespace loaderscope {
namespace {

// Decoding on one worker is the limit, so that the answer has a fix.
constexpr std::array kDemo = {"loaderscope",  "run",       "--device",   "sim",       "--cost",
                              "decode=2ms",   "--compute", "36ms",       "--workers", "1",
                              "--batch-size", "32",        "--duration", "6s"};

ExitCode demo() {
  std::string command;
  for (const char* const word : kDemo) command += (command.empty() ? "" : " ") + std::string(word);
  std::fprintf(stderr, "loaderscope: %s\n", command.c_str());
  return run_command_line(static_cast<int>(kDemo.size()), kDemo.data());
}

}  // namespace

Action declare_demo(CLI::App&) { return demo; }

}  // namespace loaderscope
