#include "job/fresh_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/failure_text.h"
#include "base/fd.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "loaderscope/units.h"
#include "settings/project.h"

namespace loaderscope {
namespace {

constexpr Nanos kGoodbye = 20 * kSecond;  // time to end, including child processes
constexpr std::string_view kWaits = ".waits", kOurs = "loaderscope: ", kHint = "\nhint: ";

bool refuses_words(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::usage);
}

// Returns the begin of the line with the error message; npos without one.
std::size_t complaint_begin(const std::string& output) {
  const std::size_t at = output.rfind("\n" + std::string(kOurs));
  if (at != std::string::npos) return at + 1;
  return output.starts_with(kOurs) ? 0 : std::string::npos;
}

// Returns the error message, or else the last line of the output.
std::string failure_reason(const ToolEnd& end) {
  const std::size_t at = complaint_begin(end.output);
  if (at == std::string::npos) return shown_text(end.last_line());
  const std::size_t begin = at + kOurs.size();
  std::size_t line_end = end.output.find('\n', begin);
  if (line_end != std::string::npos && end.output.compare(line_end, kHint.size(), kHint) == 0)
    line_end = end.output.find('\n', line_end + 1);
  return end.output.substr(begin, line_end - begin);
}

// Prints the output before the error message, such as a traceback that the message mentions.
void format_what_it_said(const ToolEnd& end) {
  const std::size_t at = complaint_begin(end.output);
  if (at != std::string::npos) std::fwrite(end.output.data(), 1, at, stderr);
}

std::vector<std::string> run_command(const FreshRun& run, const std::string& json) {
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> command = {run.binary.empty() ? own : run.binary, "run"};
  command.insert(command.end(), run.words.begin(), run.words.end());
  command.insert(command.end(), {"--json", json});
  if (!run.program.empty()) command.emplace_back("--");
  command.insert(command.end(), run.program.begin(), run.program.end());
  return command;
}

// The flags have all settings of a project already.
Variables without_project(Variables variables) {
  variables.emplace_back(kNoProject, "1");
  return variables;
}

// Subtracts the wait at the gate from the time before its loader was made.
void take_off_script(RunRecord& record, Nanos held_up) {
  for (auto& [name, ns] : record.before_first_ask)
    if (name == "script") ns = std::max<Nanos>(0, ns - held_up);
}

Nanos wall_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string without_file(const std::string& path) {
  std::error_code none;
  std::filesystem::remove(path, none);
  return path;
}

// A pipe with a name, as loaderscope_guest/trainer.py knows it.
std::string new_gate(const std::string& path, Variables& variables) {
  without_file(path + std::string(kWaits));
  if (::mkfifo(without_file(path).c_str(), 0600) != 0)
    throw RunError(path + ": cannot be made (" + std::generic_category().message(errno) + ")",
                   "set TMPDIR to a folder that you may write to");
  variables.emplace_back("LOADERSCOPE_GATE", path);
  return path;
}

}  // namespace

StartedRun::StartedRun(FreshRun run, const std::string& place, Nanos patience,
                       std::function<bool()> stopped, Gate gate)
    : name_(run.name),
      json_(without_file(place + "/run.json")),
      gate_(gate == Gate::waits ? new_gate(place + "/gate", run.variables) : ""),
      patience_(patience),
      stopped_(std::move(stopped)),
      tool_({.command = run_command(run, json_),
             .folder = run.folder,
             .variables = without_project(run.variables),
             .patience = patience,
             .goodbye = kGoodbye,
             .stopped = stopped_,
             .group = ProcessGroup::ours}) {}

bool StartedRun::waits_or_has_ended() {
  std::error_code none;
  return tool_.has_ended() || std::filesystem::exists(gate_ + std::string(kWaits), none);
}

// Opens the gate once the run waits there. The run announces its wait just before it blocks, so
// this retries.
void StartedRun::release() {
  while (waits_or_has_ended() && !tool_.has_ended() && !(stopped_ && stopped_()) &&
         Fd(::open(gate_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
    sleep_until(monotonic_now() + kMillisecond);
  released_at_ = wall_now();
}

Nanos StartedRun::held_up() const {
  struct stat facts {};
  if (released_at_ == 0 || ::stat((gate_ + std::string(kWaits)).c_str(), &facts) != 0) return 0;
  const Nanos since = facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec;
  return std::max<Nanos>(0, released_at_ - since);
}

RunRecord StartedRun::record() {
  const ToolEnd end = tool_.wait();
  const bool ended_by_us = stopped_ && stopped_();
  if (end.out_of_time)
    throw RunError(fmt::format("{}: a run took longer than {}", name_, format_duration(patience_)),
                   "look at it with 'loaderscope run'");
  if (refuses_words(end.status))
    throw add_place<UsageError>(name_ + ": ", Error(failure_reason(end)));
  if (!end.is_fine() && !ended_by_us) {
    format_what_it_said(end);
    throw RunError(
        fmt::format("{}: the run {}: {}", name_, describe_exit(end.status), failure_reason(end)));
  }
  std::error_code none;
  if (ended_by_us && !std::filesystem::exists(json_, none)) {
    RunRecord nothing;
    nothing.interrupted = true;
    return nothing;
  }
  try {
    RunRecord record = read_result(json_).record;
    take_off_script(record, held_up());
    return record;
  } catch (const RunError& error) {
    throw add_place<RunError>(name_ + ": ", error);
  }
}

}  // namespace loaderscope
