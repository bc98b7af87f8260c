#include "cli/fresh_run.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/process_end.h"
#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "loaderscope/units.h"
#include "machine/tool_run.h"

namespace loaderscope {
namespace {

constexpr Nanos kGoodbye = 20 * kSecond;  // with what it has started

bool refuses_words(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::usage);
}

// What it complains of, or the last that it said.
std::string reason_in(const ToolEnd& end) {
  constexpr std::string_view kOurs = "loaderscope: ";
  const std::size_t at = end.output.rfind("\n" + std::string(kOurs));
  const bool first = end.output.starts_with(kOurs);
  if (at == std::string::npos && !first) return shown_text(end.last_line());
  const std::size_t begin = (at == std::string::npos ? 0 : at + 1) + kOurs.size();
  return end.output.substr(begin, end.output.find('\n', begin) - begin);
}

std::vector<std::string> command_of(const FreshRun& run, const std::string& json) {
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> command = {run.binary.empty() ? own : run.binary, "run"};
  command.insert(command.end(), run.words.begin(), run.words.end());
  command.insert(command.end(), {"--json", json});
  if (!run.program.empty()) command.emplace_back("--");
  command.insert(command.end(), run.program.begin(), run.program.end());
  return command;
}

}  // namespace

RunRecord run_fresh(const FreshRun& run, const std::string& place, Nanos patience,
                    const std::function<bool()>& stopped) {
  const std::string json = place + "/run.json";
  std::error_code none;
  std::filesystem::remove(json, none);
  const ToolEnd end = run_tool({.command = command_of(run, json),
                                .folder = run.folder,
                                .variables = run.variables,
                                .patience = patience,
                                .goodbye = kGoodbye,
                                .stopped = stopped});
  const bool ended_by_us = stopped && stopped();
  if (end.out_of_time)
    throw RunError(fmt::format("{}: a run took longer than {}; look at it with 'loaderscope run'",
                               run.name, show_duration(patience)));
  if (refuses_words(end.status)) throw UsageError(run.name + ": " + reason_in(end));
  if (!end.is_fine() && !ended_by_us)
    throw RunError(
        fmt::format("{}: the run {}: {}", run.name, spell_end(end.status), reason_in(end)));
  if (ended_by_us && !std::filesystem::exists(json, none)) {
    RunRecord nothing;
    nothing.interrupted = true;
    return nothing;
  }
  try {
    return read_result(json).record;
  } catch (const RunError& error) {
    throw RunError(run.name + ": " + error.what());
  }
}

}  // namespace loaderscope
