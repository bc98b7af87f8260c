#include "engine/import/trace_readers.h"

#include <fmt/format.h>

#include "engine/import/nsys_reader.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {

void NsysReader::read() {
  if (!file_.has_table("StringIds") || !file_.has_table("META_DATA_CAPTURE"))
    throw RunError(path_ + ": is an SQLite file and no export of nsys (it has no StringIds)",
                   "give what "
                   "'nsys export --type sqlite REPORT.nsys-rep' wrote");
  read_facts();
  read_strings();
  read_gpu();
  read_calls();
  read_ranges();
  read_system_calls();
  read_scheduling();
  read_overhead();
  read_workers();
  read_diagnostics();
  finish();
}

// The times of a row whose first columns they are; false where they make no sense.
bool NsysReader::take_times(const SqliteRow& row, TimeRange& at) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 59;
  at = {row.integer(0, -1), row.integer(1, -1)};
  const bool makes_sense = at.begin >= 0 && at.end >= at.begin && at.end < kFarthest;
  run_.unusable += !makes_sense;
  return makes_sense;
}

TracedProcess& NsysReader::process(std::int64_t global_pid) {
  constexpr std::size_t kMaxProcesses = 4096;
  const auto found = processes_.find(global_pid);
  if (found != processes_.end()) return run_.processes[found->second];
  if (processes_.size() >= kMaxProcesses)
    throw RunError(path_ + ": has more processes than any job", "give an SQLite export of nsys");
  processes_.emplace(global_pid, run_.processes.size());
  TracedProcess& made = run_.processes.emplace_back();
  made.name = fmt::format("process {}", global_pid / kThreads % kThreads);
  made.origin = 0;
  return made;
}

TracedGpu& NsysReader::gpu(std::int64_t global_pid, std::int64_t device) {
  constexpr std::size_t kMaxGpus = 1024;
  const auto found = gpus_.find({global_pid, device});
  if (found != gpus_.end()) return found->second;
  if (gpus_.size() >= kMaxGpus)
    throw RunError(path_ + ": has more GPUs than any job", "give an SQLite export of nsys");
  TracedGpu& made = gpus_[{global_pid, device}];
  made.name = fmt::format("{}, GPU {}", process(global_pid).name, device);
  made.process = processes_.at(global_pid);
  return made;
}

// Files of one machine are brought together by the clock of the world.
void NsysReader::finish() {
  for (auto& [id, index] : processes_) {
    run_.processes[index].shift(base_);
    run_.processes[index].origin = base_;
  }
  for (auto& [key, gpu] : gpus_) {
    gpu.shift(base_);
    run_.gpus_used.push_back(std::move(gpu));
  }
  std::string flags = file_.has_table("OSRT_API") ? "" : "--trace=cuda,nvtx,osrt";
  if (!file_.has_table("SCHED_EVENTS"))
    flags += std::string(flags.empty() ? "" : " and ") + "--cpuctxsw=process-tree";
  if (!flags.empty())
    run_.more_to_record =
        fmt::format("with {} nsys shows what the host did in unexplained gaps", flags);
  run_.has_calls |= has_calls_;
  run_.has_loader |= has_loader_;
  if (has_loader_) return;
  const bool recorded = captured_.contains("NvtxEvents") || ranges_ > 0;
  run_.no_loader =
      recorded ? "none of its ranges is a DataLoader's, so waits for it cannot be separated "
                 "from what the host did: run the steps within torch.autograd.profiler.emit_nvtx()"
               : "NVTX was not recorded, so waits for a DataLoader are unknown: record "
                 "with --trace=cuda,nvtx and torch.autograd.profiler.emit_nvtx()";
}

void read_nsys_trace(const std::string& path, const TraceOptions& options, TracedRun& run) {
  NsysReader(path, options.step_range, run).read();
}

std::optional<std::string> no_sqlite() { return std::nullopt; }

}  // namespace loaderscope::traces
