#include "machine/python_module.h"

#include "loaderscope/errors.h"
#include "loaderscope/run_config.h"
#include "machine/tool_run.h"

namespace loaderscope {
namespace {

// Looks for the module without running it. Python itself is 0 where it is there, 1 where not.
bool finds(const std::string& python, const std::string& module) {
  const std::string code =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + module + "') is None)";
  try {
    return run_tool({.command = {python, "-c", code}}).is_fine();
  } catch (const RunError&) {
    return false;
  }
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
