#include "hang/hang_text.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "guest/protocol/bounded.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope::hang {
namespace {

std::string stage_name(std::int64_t stage) {
  for (const Word<Stage>& word : Words<Stage>::table()) {
    if (static_cast<std::int64_t>(word.value) == stage) return std::string(word.name);
  }
  return "";
}

// Returns the place in Python: the user's own line, and the library function that it has called.
std::string python_place_of(const ProcessFacts& process) {
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
  if (!process.call.name.empty()) return "waits in " + call_of(process);
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

std::string call_of(const ProcessFacts& process) {
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

std::string place_of(const ProcessFacts& process) {
  if (process.pid == 0) return "has not started";
  if (process.has_ended) return "has ended";
  std::string words = what_it_does(process);
  if (process.is_in_kernel && !process.call.name.empty() && !process.wchan.empty())
    words += fmt::format(" (in the kernel, {})", process.wchan);
  const std::string place = python_place_of(process);
  return place.empty() ? words : fmt::format("{}, at {}", words, printable(place));
}

std::string work_of(const ProcessFacts& process) {
  std::string words;
  if (process.sample >= 0) words = fmt::format("sample {}", process.sample);
  const std::string stage = process.batch < 0 ? "" : stage_name(process.stage);
  if (!stage.empty() && stage != name_of(Stage::opaque))
    words += fmt::format("{}stage {}", words.empty() ? "" : ", ", stage);
  return words.empty() ? "" : " (" + words + ")";
}

}  // namespace loaderscope::hang
