#include "watch/python_lines.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"
#include "machine/tool_run.h"

namespace loaderscope::watch {
namespace {

constexpr Nanos kAnswerTimeout = 5 * kSecond;

// Prints what py-spy prints of a process. The module is CPython's own, in the standard library.
constexpr const char* kUnwind = R"(
import json, sys, _remote_debugging
pid = int(sys.argv[1])
threads = []
for item in _remote_debugging.RemoteUnwinder(pid, all_threads=True).get_stack_trace():
    for thread in getattr(item, 'threads', None) or [item]:
        number, frames = thread[0], thread[-1]
        threads.append({'os_thread_id': number, 'frames': [
            {'filename': f.filename, 'name': f.funcname,
             'line': getattr(f, 'lineno', None) or getattr(f.location, 'lineno', 0)}
            for f in frames]})
print(json.dumps(threads))
)";

// "/usr/bin/python3.14" -> 14; 0: not known, or another Python.
int minor_version_of(const std::string& executable) {
  constexpr std::string_view kPython = "python3.";
  const auto at = executable.rfind(kPython);
  int minor = 0;
  if (at == executable.npos) return 0;
  std::from_chars(executable.data() + at + kPython.size(), executable.data() + executable.size(),
                  minor);
  return minor;
}

PythonLook look_by(const std::vector<std::string>& command, pid_t process) {
  ToolRun run;
  run.command = command;
  run.patience = kAnswerTimeout;
  try {
    const ToolEnd end = run_tool(run);
    if (end.out_of_time) return {{}, command.front() + " did not answer"};
    if (!end.is_fine()) return {{}, command.front() + ": " + shown_text(end.last_line())};
    return parse_python_look(end.output, process);
  } catch (const RunError&) {
    return {{}, "py-spy is not installed (pip install py-spy)"};
  }
}

}  // namespace

PythonLook parse_python_look(const std::string& text, pid_t process) {
  PythonLook look;
  const auto begin = text.find('[');  // skips warnings at the begin
  try {
    const auto json =
        parse_foreign_json<nlohmann::json>(begin == text.npos ? "" : text.substr(begin));
    if (!json.is_array()) return {{}, "what was printed of it is no list of threads"};
    for (const auto& each : json) {
      hang::PythonThread thread;
      for (const auto& frame : each.at("frames"))
        thread.frames.push_back({frame.at("filename").get<std::string>(), frame.value("line", 0),
                                 frame.at("name").get<std::string>()});
      const auto number = each.find("os_thread_id");
      const bool is_main =
          number != each.end() && number->is_number() && number->get<std::int64_t>() == process;
      look.threads.insert(is_main ? look.threads.begin() : look.threads.end(), std::move(thread));
    }
  } catch (const nlohmann::json::exception&) {
    return {{}, "what was printed of it is no list of threads"};
  } catch (const ValueError&) {
    return {{}, "what was printed of it is no list of threads"};
  }
  if (look.threads.empty()) look.why_not = "no thread of it runs Python";
  return look;
}

PythonLook look_at_python(const std::filesystem::path& root, pid_t process) {
  constexpr int kFirstWithUnwinder = 14;
  std::error_code refused;
  const std::string pid = std::to_string(process);
  const std::string executable =
      std::filesystem::read_symlink(root / "proc" / pid / "exe", refused).string();
  if (refused) return {{}, "its program may not be looked at"};
  if (minor_version_of(executable) >= kFirstWithUnwinder) {
    PythonLook look = look_by({executable, "-I", "-c", kUnwind, pid}, process);
    if (look.why_not.empty()) return look;
  }
  return look_by({"py-spy", "dump", "--json", "--nonblocking", "--pid", pid}, process);
}

}  // namespace loaderscope::watch
