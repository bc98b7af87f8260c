#include "machine/python_module.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "loaderscope/run_config.h"

namespace loaderscope {
namespace {

// Looks for the module without running it. Python itself is 0 where it is there, 1 where not.
bool finds(const std::string& python, const std::string& module) {
  const std::string code =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + module + "') is None)";
  std::array<std::string, 3> words = {python, "-c", code};
  std::array<char*, 4> argv = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::optional<std::string> reason_without(const std::string& module, const std::string& package) {
  const std::string python = RunConfig().program.python.value;
  if (finds(python, module)) return std::nullopt;
  return python + " has no module " + module + "; give --python a Python that has it, or run '" +
         python + " -m pip install " + package + "'.";
}

}  // namespace

std::optional<std::string> no_webdataset() {
  static const auto reason = reason_without("webdataset", "webdataset torch torchvision");
  return reason;
}

std::optional<std::string> no_dali() {
  static const auto reason = reason_without("nvidia.dali", "nvidia-dali-cuda130");
  return reason;
}

}  // namespace loaderscope
