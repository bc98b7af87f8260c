#include "machine/tool_run.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <span>
#include <utility>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "loaderscope/run_config.h"

namespace loaderscope {
namespace {

constexpr off_t kMaxOutput = 64 << 10;
constexpr Nanos kLook = 2 * kMillisecond, kForEver = Nanos{1} << 61;

std::string output_end(int output) {
  struct stat facts {};
  if (::fstat(output, &facts) != 0) return "";
  const off_t from = std::max<off_t>(0, facts.st_size - kMaxOutput);
  std::string text(static_cast<std::size_t>(facts.st_size - from), '\0');
  text.resize(read_at(output, from, std::as_writable_bytes(std::span(text))).bytes);
  return text;
}

Fd room_for_output() {
  Fd output(::memfd_create("output", MFD_CLOEXEC));
  if (output < 0)
    throw RunError("memfd_create: no memory for what programs print", "free some memory");
  return output;
}

}  // namespace

std::string ToolEnd::last_line() const {
  const std::size_t end = output.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const std::size_t begin = output.find_last_of("\n\r", end);
  return output.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

StartedTool::StartedTool(ToolRun run)
    : run_(std::move(run)),
      output_(room_for_output()),
      child_(run_.command, run_.variables, output_, run_.folder, run_.group),
      until_(run_.patience > 0 ? monotonic_now() + run_.patience : kForEver) {}

// Returns its status, or nothing if its time was over first.
std::optional<int> StartedTool::await(Nanos until, const std::function<bool()>& stopped) {
  for (;;) {
    if (const std::optional<int> status = child_.status()) return status;
    if (monotonic_now() > until || (stopped && stopped())) return std::nullopt;
    sleep_until(monotonic_now() + kLook);
  }
}

ToolEnd StartedTool::wait() {
  ToolEnd end;
  std::optional<int> status = await(until_, run_.stopped);
  if (!status) {
    end.out_of_time = !run_.stopped || !run_.stopped();
    child_.interrupt();
    status = await(monotonic_now() + run_.goodbye, {});
  }
  child_.end_all();
  end.status = status.value_or(SIGKILL);
  end.output = output_end(output_);
  return end;
}

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
