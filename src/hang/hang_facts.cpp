#include "hang/hang_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/printable.h"
#include "guest/protocol/bounded.h"
#include "loaderscope/vocabulary.h"
#include "machine/proc_file.h"

namespace loaderscope::hang {

// In any order it gets whichever is made first: of those that are begun, one hangs.
const AwaitedBatch* RankFacts::next_batch() const {
  if (awaited.empty()) return nullptr;
  if (loader.in_order) return &awaited.front();
  const auto begun = std::find_if(awaited.begin(), awaited.end(), [](const AwaitedBatch& one) {
    return one.begun && !one.finished;
  });
  return begun == awaited.end() ? &awaited.front() : &*begun;
}

const WorkerFacts* RankFacts::maker() const {
  const AwaitedBatch* next = next_batch();
  if (next == nullptr) return nullptr;
  const auto found = std::find_if(workers.begin(), workers.end(), [&](const WorkerFacts& worker) {
    return worker.number == next->worker;
  });
  return found == workers.end() ? nullptr : &*found;
}

namespace {

std::string stage_name(std::int64_t stage) {
  for (const Word<Stage>& word : Words<Stage>::table()) {
    if (static_cast<std::int64_t>(word.value) == stage) return std::string(word.name);
  }
  return "";
}

// Returns the place in Python: the user's own line, and the library function that it has called.
std::string python_place(const ProcessFacts& process) {
  if (process.threads.empty() || process.threads.front().frames.empty()) return "";
  const PythonThread& main = process.threads.front();
  const PythonFrame& innermost = main.frames.front();
  const PythonFrame* own = main.own();
  if (own == nullptr || own == &innermost) return spelled_place(innermost);
  return fmt::format("{}, calling {}", spelled_place(*own), innermost.function);
}

std::string what_it_does(const ProcessFacts& process) {
  if (process.is_stopped) return "is stopped";
  if (process.waits_for_interpreter) return "waits for Python's interpreter lock";
  if (process.call.kind == CallKind::locks) return "waits for a lock or another thread";
  if (process.call.kind == CallKind::locks_shared) return "waits for a lock that processes share";
  if (process.call.kind == CallKind::sleeps) return "sleeps";
  if (!process.call.name.empty()) return "waits in " + describe_call(process);
  if (!process.wchan.empty()) return "waits in the kernel (" + process.wchan + ")";
  return process.is_in_kernel ? "waits in the kernel" : "computes";
}

}  // namespace

std::string name_of(const RankFacts& rank) {
  return rank.rank < 0 ? "the trainer" : fmt::format("rank {}", rank.rank);
}

std::string name_of(const WorkerFacts& worker) { return fmt::format("worker {}", worker.number); }

std::string with_process(const std::string& name, const ProcessFacts& process) {
  return process.pid == 0 ? name : fmt::format("{} (process {})", name, process.pid);
}

std::string describe_call(const ProcessFacts& process) {
  std::string words = fmt::format("{}()", process.call.name);
  const std::string& object = process.call.object;
  if (process.call.is_socket) {
    words += object.empty() ? " of a socket" : " of a connection to " + object;
  } else if (object.starts_with("pipe:")) {
    words += " of a pipe";
  } else if (object.starts_with("anon_inode:") || object.empty()) {
    return words;
  } else {
    words += " of " + guest::bounded_text(printable(object));
  }
  return words;
}

std::string describe_place(const ProcessFacts& process) {
  if (process.pid == 0) return "has not started";
  if (process.has_ended) return "has ended";
  std::string words = what_it_does(process);
  if (process.is_in_kernel && !process.call.name.empty() && !process.wchan.empty())
    words += fmt::format(" (in the kernel, {})", process.wchan);
  const std::string place = python_place(process);
  return place.empty() ? words : fmt::format("{}, at {}", words, printable(place));
}

std::string describe_work(const ProcessFacts& process) {
  std::string words;
  if (process.sample >= 0) words = fmt::format("sample {}", process.sample);
  const std::string stage = process.batch < 0 ? "" : stage_name(process.stage);
  if (!stage.empty() && stage != name_of(Stage::opaque))
    words += fmt::format("{}stage {}", words.empty() ? "" : ", ", stage);
  return words.empty() ? "" : " (" + words + ")";
}

namespace {

std::string process_folder(pid_t process, const std::filesystem::path& root = "/") {
  return (root / "proc" / std::to_string(process)).string();
}

// "0" where the kernel does not show it, or the process runs.
std::string read_wchan(const std::string& folder) {
  std::ifstream file(folder + "/wchan");
  std::string name;
  std::getline(file, name);
  return name == "0" ? "" : guest::bounded_text(name);
}

std::int64_t count_open_files(const std::string& folder) {
  std::error_code refused;
  const std::filesystem::directory_iterator first(folder + "/fd", refused), end;
  return refused ? 0 : std::distance(first, end);
}

}  // namespace

ProcessFacts take_process_snapshot(pid_t process, const guest::CurrentWork* current_work,
                                   const std::filesystem::path& root) {
  ProcessFacts facts;
  facts.pid = process;
  if (current_work != nullptr) {
    facts.batch = current_work->batch.load(std::memory_order_relaxed);
    facts.sample = current_work->sample.load(std::memory_order_relaxed);
    facts.stage = current_work->stage.load(std::memory_order_relaxed);
  }
  const std::string folder = process_folder(process, root);
  const auto stat = read_process_stat(folder);
  facts.has_ended = !stat || stat->has_ended();
  if (facts.has_ended) return facts;
  facts.is_stopped = stat->state == 'T' || stat->state == 't';
  facts.is_in_kernel = stat->state == 'D';
  facts.wchan = read_wchan(folder);
  facts.call = read_system_call(process, {.root = root});
  facts.open_files = count_open_files(folder);
  facts.most_files = read_value(folder + "/limits", "Max open files").value_or(0);
  return facts;
}

bool Signs::has_moved_since(const Signs& before) const {
  return batch != before.batch || sample != before.sample;
}

bool Signs::was_busy_since(const Signs& before, Nanos time) const {
  constexpr double kCpuShare = 0.1;
  constexpr double kWakesPerSecond = 5;
  return cpu_s - before.cpu_s > kCpuShare * seconds(time) || read != before.read ||
         static_cast<double>(wakes - before.wakes) > kWakesPerSecond * seconds(time);
}

Signs read_signs(pid_t process, const guest::CurrentWork* current_work) {
  Signs signs;
  const std::string folder = process_folder(process);
  std::vector<pid_t> all = list_descendants(process);
  all.push_back(process);
  for (const pid_t one : all) {
    if (const auto stat = read_process_stat(process_folder(one))) signs.cpu_s += stat->own.cpu_s();
  }
  signs.wakes = read_value(folder + "/status", "voluntary_ctxt_switches").value_or(0);
  signs.read = read_value(folder + "/io", "rchar").value_or(0);
  if (current_work == nullptr) return signs;
  signs.batch = current_work->batch.load(std::memory_order_relaxed);
  signs.sample = current_work->sample.load(std::memory_order_relaxed);
  return signs;
}

}  // namespace loaderscope::hang
