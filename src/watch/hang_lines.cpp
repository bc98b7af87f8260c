#include "watch/hang_lines.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/foreign_json.h"
#include "hang/hang_facts.h"
#include "hang/hang_report.h"
#include "loaderscope/errors.h"
#include "machine/machine.h"
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
int parse_minor_version(const std::string& executable) {
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

using hang::HangFacts;
using hang::RankFacts;
using hang::WorkerFacts;

std::vector<hang::PythonThread> find_threads(pid_t process, const PythonLooks& python) {
  const auto look = python.find(process);
  return look == python.end() ? std::vector<hang::PythonThread>{} : look->second.threads;
}

// A worker that waits for a task rests; any other makes a batch, or cannot.
bool rests(const ProcessSamples& worker) {
  return !worker.has_ended() && worker.latest_look().doing == ThreadActivity::queue;
}

hang::WorkerFacts worker_facts(const std::filesystem::path& root, const ProcessSamples& worker,
                               const PythonLooks& python) {
  hang::WorkerFacts facts;
  const pid_t pid = worker.process().pid;
  static_cast<hang::ProcessFacts&>(facts) = hang::take_process_snapshot(pid, nullptr, root);
  facts.number = static_cast<std::int32_t>(worker.process().number);
  facts.threads = find_threads(pid, python);
  if (!rests(worker)) facts.batch = 0;  // unknown number
  return facts;
}

hang::RankFacts rank_facts(const std::filesystem::path& root, const ProcessSamples& trainer,
                           bool is_alone, const JobSampler& sampler, const PythonLooks& python) {
  hang::RankFacts facts;
  const pid_t pid = trainer.process().pid;
  static_cast<hang::ProcessFacts&>(facts) = hang::take_process_snapshot(pid, nullptr, root);
  facts.rank = is_alone ? -1 : static_cast<std::int32_t>(trainer.process().rank);
  facts.threads = find_threads(pid, python);
  if (trainer.latest_look().doing == ThreadActivity::queue || is_alone)
    facts.asking_for = sampler.hung_for();
  for (const ProcessSamples* worker : sampler.traces(Role::worker)) {
    if (worker->process().trainer == pid)
      facts.workers.push_back(worker_facts(root, *worker, python));
  }
  facts.loader.num_workers = static_cast<std::int32_t>(facts.workers.size());
  // The awaited batch is not visible: the first worker that does not rest has it.
  for (const hang::WorkerFacts& worker : facts.workers) {
    if (worker.has_ended || worker.batch >= 0) {
      hang::AwaitedBatch batch;
      batch.worker = worker.number;
      batch.begun = true;
      facts.awaited.push_back(batch);
      break;
    }
  }
  return facts;
}

// The one whose worker does not rest keeps the others waiting.
std::size_t root_among(const std::vector<hang::RankFacts>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].asking_for > 0 && ranks[i].maker() != nullptr) return i;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].asking_for > 0) return i;
  }
  return 0;
}

std::string answer_text(const hang::HangFacts& facts) {
  const hang::RankFacts& rank = facts.rank();
  const hang::WorkerFacts* maker = rank.maker();
  const std::string begin = fmt::format("standing for {} s: {}", facts.since / kSecond,
                                        with_process(name_of(rank), rank));
  if (rank.asking_for > 0 && maker != nullptr)
    return fmt::format("{} waits for {}, which {}", begin, with_process(name_of(*maker), *maker),
                       describe_place(*maker));
  if (rank.asking_for > 0 && !rank.workers.empty())
    return fmt::format("{} waits for a batch though all workers rest, and {}", begin,
                       describe_place(rank));
  return fmt::format("{} {}", begin, describe_place(rank));
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
  if (parse_minor_version(executable) >= kFirstWithUnwinder) {
    PythonLook look = look_by({executable, "-I", "-c", kUnwind, pid}, process);
    if (look.why_not.empty()) return look;
  }
  return look_by({"py-spy", "dump", "--json", "--nonblocking", "--pid", pid}, process);
}

std::vector<std::string> hang_lines(const std::filesystem::path& root, const JobSampler& sampler,
                                    const PythonLooks& python) {
  hang::HangFacts facts;
  facts.since = sampler.hung_for();
  const std::vector<const ProcessSamples*> trainers = sampler.traces(Role::trainer);
  for (const ProcessSamples* trainer : trainers)
    facts.ranks.push_back(rank_facts(root, *trainer, trainers.size() == 1, sampler, python));
  if (facts.ranks.empty()) return {};
  facts.root = root_among(facts.ranks);
  if (const auto shared = read_shared_folder()) {
    facts.shared_free = static_cast<double>(shared->free);
    facts.shared_size = static_cast<double>(shared->free + shared->used);
  }
  hang::HangReport report = make_report(facts);
  report.answer = answer_text(facts);
  return report.lines();
}

}  // namespace loaderscope::watch
