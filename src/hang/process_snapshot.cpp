#include "hang/process_snapshot.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "guest/protocol/bounded.h"
#include "machine/proc_file.h"

namespace loaderscope::hang {
namespace {

std::string folder_of(pid_t process, const std::filesystem::path& root = "/") {
  return (root / "proc" / std::to_string(process)).string();
}

// "0" where the kernel does not show it, or the process runs.
std::string wchan_of(const std::string& folder) {
  std::ifstream file(folder + "/wchan");
  std::string name;
  std::getline(file, name);
  return name == "0" ? "" : guest::bounded_text(name);
}

std::int64_t open_files_of(const std::string& folder) {
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
  const std::string folder = folder_of(process, root);
  const auto stat = read_process_stat(folder);
  facts.has_ended = !stat || stat->has_ended();
  if (facts.has_ended) return facts;
  facts.is_stopped = stat->state == 'T' || stat->state == 't';
  facts.is_in_kernel = stat->state == 'D';
  facts.wchan = wchan_of(folder);
  facts.call = system_call_of(process, {.root = root});
  facts.open_files = open_files_of(folder);
  facts.most_files = value_in(folder + "/limits", "Max open files").value_or(0);
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

Signs signs_of(pid_t process, const guest::CurrentWork* current_work) {
  Signs signs;
  const std::string folder = folder_of(process);
  std::vector<pid_t> all = descendants_of(process);
  all.push_back(process);
  for (const pid_t one : all) {
    if (const auto stat = read_process_stat(folder_of(one))) signs.cpu_s += stat->own.cpu_s();
  }
  signs.wakes = value_in(folder + "/status", "voluntary_ctxt_switches").value_or(0);
  signs.read = value_in(folder + "/io", "rchar").value_or(0);
  if (current_work == nullptr) return signs;
  signs.batch = current_work->batch.load(std::memory_order_relaxed);
  signs.sample = current_work->sample.load(std::memory_order_relaxed);
  return signs;
}

}  // namespace loaderscope::hang
