// An export of nsys while it is read. SQLite's tables are visited one after the other, in an order
// in which what one needs of another is there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/import/sqlite_file.h"
#include "engine/import/traced_run.h"

namespace loaderscope::traces {

// Values of an enum and their names, as the file contains them. The numbers may change between
// versions.
using EnumNames = std::unordered_map<std::int64_t, std::string>;

class NsysReader {
 public:
  NsysReader(const std::string& path, std::string step_range, TracedRun& run)
      : path_(path), file_(path), keeper_(path), step_range_(std::move(step_range)), run_(run) {}

  void read();  // throws RunError

 private:
  enum class Meaning : std::uint8_t {
    none,
    call,
    synchronous,
    loader,
    loader_single,
    step,
    lock,
    operation,
    collective,
    worker,
    file_read,
    system_wait,
  };
  // In a global id, of a process and of a thread.
  static constexpr std::int64_t kThreads = 0x1000000;
  using Strings = std::unordered_map<std::int64_t, Meaning>;

  void read_facts();
  void read_strings();
  void read_gpu();
  void read_work(std::string_view table, const std::vector<std::string_view>& columns,
                 const std::function<void(const SqliteRow&, GpuWork&)>& set_kind);
  void read_calls();
  void read_ranges();
  void read_system_calls();
  void read_scheduling();
  void read_overhead();
  void read_workers();
  void read_diagnostics();
  void finish();

  // The process of a global thread id, as a global process id.
  static std::int64_t process_number(std::int64_t global_tid) {
    return global_tid - global_tid % kThreads;
  }
  Meaning meaning_of_range(std::string_view name) const;
  void take_range(std::int64_t global_tid, TimeRange at, Meaning meaning);
  EnumNames enum_names(std::string_view table) const;
  TracedProcess& process(std::int64_t global_pid);
  TracedGpu& gpu(std::int64_t global_pid, std::int64_t device);
  bool take_times(const SqliteRow& row, TimeRange& at);
  Meaning string_meaning(std::int64_t string) const {
    const auto found = strings_.find(string);
    return found == strings_.end() ? Meaning::none : found->second;
  }
  void add_host(std::int64_t global_tid, TimeRange at, HostKind kind, std::int64_t correlation = 0);

  std::string path_;
  SqliteFile file_;
  SpanKeeper keeper_;
  std::string step_range_;
  TracedRun& run_;
  std::unordered_map<std::int64_t, std::uint32_t> collective_names_;  // keyed by string id
  std::set<std::int64_t> launchers_;  // threads that called CUDA or asked for batches
  std::int64_t base_ = 0;             // offset from the file's clock to the wall clock
  Strings strings_;                   // strings that are known names of calls, ranges or threads
  std::map<std::int64_t, std::size_t> processes_;  // index in run_.processes, keyed by global id
  std::map<std::int64_t, ThreadNumbers> threads_;
  std::map<std::pair<std::int64_t, std::int64_t>, TracedGpu> gpus_;
  std::set<std::string, std::less<>> captured_;
  bool has_loader_ = false, has_calls_ = false;
  std::int64_t ranges_ = 0;
};

}  // namespace loaderscope::traces
