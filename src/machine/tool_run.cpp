#include "machine/tool_run.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <span>

#include "base/fd.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "machine/child.h"

namespace loaderscope {
namespace {

constexpr off_t kMostOutput = 64 << 10;
constexpr Nanos kLook = 2 * kMillisecond;

std::string end_of(int output) {
  struct stat facts {};
  if (::fstat(output, &facts) != 0) return "";
  const off_t from = std::max<off_t>(0, facts.st_size - kMostOutput);
  std::string text(static_cast<std::size_t>(facts.st_size - from), '\0');
  text.resize(read_at(output, from, std::as_writable_bytes(std::span(text))).bytes);
  return text;
}

// How it ended, or nothing when its time was over first.
std::optional<int> await(Child& child, Nanos until, const std::function<bool()>& stopped) {
  for (;;) {
    if (const std::optional<int> status = child.status()) return status;
    if (monotonic_now() > until || (stopped && stopped())) return std::nullopt;
    sleep_until(monotonic_now() + kLook);
  }
}

}  // namespace

std::string ToolEnd::last_line() const {
  const std::size_t end = output.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const std::size_t begin = output.find_last_of("\n\r", end);
  return output.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

ToolEnd run_tool(const ToolRun& run) {
  constexpr Nanos kForEver = Nanos{1} << 61;
  const Fd output(::memfd_create("output", MFD_CLOEXEC));
  if (output < 0) throw RunError("memfd_create: no memory for what programs print; free some");
  Child child(run.command, run.variables, output, run.folder);
  const Nanos until = run.patience > 0 ? monotonic_now() + run.patience : kForEver;
  ToolEnd end;
  std::optional<int> status = await(child, until, run.stopped);
  if (!status) {
    end.out_of_time = !run.stopped || !run.stopped();
    child.signal(SIGINT);
    status = await(child, monotonic_now() + run.goodbye, {});
  }
  child.end_all();
  end.status = status.value_or(SIGKILL);
  end.output = end_of(output);
  return end;
}

}  // namespace loaderscope
