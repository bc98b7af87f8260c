// Reads the tables of an nsys export.
#include "engine/import/nsys_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope::traces {

// Reads only these facts of the capture. The environment is private.
void NsysReader::read_facts() {
  std::string version;
  file_.for_each("META_DATA_EXPORT", {"name", "value"}, [&](const SqliteRow& row) {
    if (row.text(0) == "EXPORT_PRODUCT_VERSION") version = shown_text(row.text(1));
  });
  run_.tool = version.empty() ? "nsys" : "nsys " + version;
  file_.for_each("META_DATA_CAPTURE", {"name", "value"}, [&](const SqliteRow& row) {
    constexpr std::size_t kMax = 64;
    if (row.text(0) == "CAPTURE_EVENT_TYPE" && captured_.size() < kMax)
      captured_.emplace(row.text(1));
  });
  file_.for_each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const SqliteRow& row) {
    constexpr std::int64_t kFarthestUtc = 4'000'000'000'000'000'000;
    const std::int64_t base = row.integer(0);
    base_ = base > 0 && base < kFarthestUtc ? base : 0;
  });
  std::string gpus;
  file_.for_each("TARGET_INFO_GPU", {"name"}, [&](const SqliteRow& row) {
    const std::string name = shown_text(row.text(0));
    constexpr std::size_t kMaxLength = 1024;
    if (!name.empty() && gpus.size() < kMaxLength) gpus += (gpus.empty() ? "" : ", ") + name;
  });
  if (!gpus.empty()) run_.gpus = gpus;
  file_.for_each("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [&](const SqliteRow& row) {
    if (row.text(0) == "Hostname") run_.host = shown_text(row.text(1));
  });
}

// The export does not contain which trainer started them.
void NsysReader::read_workers() {
  std::set<std::int64_t> workers;
  file_.for_each("ThreadNames", {"nameId", "globalTid"}, [&](const SqliteRow& row) {
    if (string_meaning(row.integer(0, -1)) == Meaning::worker)
      workers.insert(process_number(row.integer(1)));
  });
  if (workers.empty() || gpus_.empty()) return;
  run_.notes.push_back(
      fmt::format("{} processes of a DataLoader's workers were traced", workers.size()));
}

// Quotes what nsys reports about lost events. Other warnings are only counted, as they may quote
// anything.
void NsysReader::read_diagnostics() {
  constexpr std::size_t kMaxSaid = 3, kMaxLength = 200;
  constexpr std::string_view kLossWords[] = {"ropped",        "lost",          "Not all ",
                                             "not collected", "not be traced", "overflow",
                                             "incomplete",    "issing"};
  const EnumNames levels = enum_names("ENUM_DIAGNOSTIC_SEVERITY_LEVEL");
  std::set<std::string> said;
  std::int64_t others = 0;
  file_.for_each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const SqliteRow& row) {
    const auto level = levels.find(row.integer(0, -1));
    if (level == levels.end() || (level->second != "Warning" && level->second != "Error")) return;
    const std::string_view text = row.text(1);
    const bool is_of_loss = std::ranges::any_of(
        kLossWords, [&](std::string_view word) { return text.find(word) != text.npos; });
    others += !is_of_loss;
    if (is_of_loss && said.size() < kMaxSaid) said.insert(shown_text(text.substr(0, kMaxLength)));
  });
  for (const std::string& text : said)
    run_.notes.push_back("nsys says what it did not record: " + text);
  if (others > 0)
    run_.notes.push_back(fmt::format("nsys warned of something {}; its own window shows it",
                                     others == 1 ? "else" : fmt::format("else {} times", others)));
}

// Maps the names in an nsys export to meanings: calls, ranges, kernels and threads.

void NsysReader::read_strings() {
  file_.for_each("StringIds", {"id", "value"}, [&](const SqliteRow& row) {
    const std::string_view text = row.text(1);
    Meaning meaning = meaning_of_range(text);
    if (text.starts_with("cuda") || text.starts_with("cu"))
      meaning = kind_of_call(text) == HostKind::synchronous ? Meaning::synchronous : Meaning::call;
    if (is_collective(text)) {
      meaning = Meaning::collective;
      collective_names_.emplace(row.integer(0, -1), collective_name(text));
    }
    if (const auto call = kind_of_system_call(text))
      meaning = *call == HostKind::file_read ? Meaning::file_read : Meaning::system_wait;
    if (text.starts_with("pt_data_worker")) meaning = Meaning::worker;
    if (meaning != Meaning::operation) strings_.emplace(row.integer(0, -1), meaning);
  });
}

NsysReader::Meaning NsysReader::meaning_of_range(std::string_view name) const {
  if (!step_range_.empty() && name == step_range_) return Meaning::step;
  if (const auto range = loader_range(name))
    return range->single ? Meaning::loader_single : Meaning::loader;
  if (name == "wait for batch") return Meaning::loader;  // the range of our own trainer
  if (name == "Waiting for GIL") return Meaning::lock;
  if (step_range_.empty() && profiler_step(name)) return Meaning::step;
  return Meaning::operation;
}

EnumNames NsysReader::enum_names(std::string_view table) const {
  EnumNames names;
  file_.for_each(table, {"id", "name"},
                 [&](const SqliteRow& row) { names.emplace(row.integer(0, -1), row.text(1)); });
  return names;
}

// Reads the GPU tables of an nsys export.

namespace {

struct Copy {
  std::string kind, from;
};

GpuKind copy_kind(const Copy& copy) {
  if (copy.kind.ends_with("HTOD") || copy.kind.ends_with("HTOA"))
    return copy.from.ends_with("PAGEABLE") ? GpuKind::from_pageable : GpuKind::from_pinned;
  if (copy.kind.ends_with("DTOH") || copy.kind.ends_with("ATOH")) return GpuKind::to_host;
  return GpuKind::memory;
}

}  // namespace

// `columns`: further ones, from the sixth on, by which `set_kind` says what kind of work it is.
void NsysReader::read_work(std::string_view table, const std::vector<std::string_view>& columns,
                           const std::function<void(const SqliteRow&, GpuWork&)>& set_kind) {
  std::vector<std::string_view> all = {"start",    "end",      "globalPid",
                                       "deviceId", "streamId", "correlationId"};
  all.insert(all.end(), columns.begin(), columns.end());
  file_.for_each(table, all, [&](const SqliteRow& row) {
    TimeRange at;
    if (!take_times(row, at)) return;
    GpuWork work{at.begin, at.end};
    work.stream = static_cast<std::uint16_t>(row.integer(4));
    work.correlation = static_cast<std::uint32_t>(row.integer(5));
    set_kind(row, work);
    keeper_.add(gpu(row.integer(2), row.integer(3)), work);
  });
}

void NsysReader::read_gpu() {
  read_work("CUPTI_ACTIVITY_KIND_KERNEL", {"shortName"}, [&](const SqliteRow& row, GpuWork& work) {
    const bool exchanges = string_meaning(row.integer(6, -1)) == Meaning::collective;
    work.kind = exchanges ? GpuKind::collective : GpuKind::kernel;
    if (exchanges) work.name = collective_names_.at(row.integer(6, -1));
  });
  // Kernels of a graph that is traced as a whole are in no other table.
  read_work("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {}, [](const SqliteRow&, GpuWork&) {});
  read_work("CUPTI_ACTIVITY_KIND_MEMSET", {},
            [](const SqliteRow&, GpuWork& work) { work.kind = GpuKind::memory; });
  const EnumNames kinds = enum_names("ENUM_CUDA_MEMCPY_OPER");
  const EnumNames memories = enum_names("ENUM_CUDA_MEM_KIND");
  const auto named = [](const EnumNames& names, std::int64_t value) {
    const auto found = names.find(value);
    return found == names.end() ? std::string() : found->second;
  };
  read_work("CUPTI_ACTIVITY_KIND_MEMCPY", {"copyKind", "srcKind", "bytes"},
            [&](const SqliteRow& row, GpuWork& work) {
              work.kind = copy_kind(
                  {named(kinds, row.integer(6, -1)), named(memories, row.integer(7, -1))});
              work.bytes = static_cast<double>(row.integer(8));
            });
}

// Reads the thread tables of an nsys export.

void NsysReader::add_host(std::int64_t global_tid, TimeRange at, HostKind kind,
                          std::int64_t correlation) {
  const std::int64_t pid = process_number(global_tid);
  HostSpan span{at.begin, at.end};
  span.correlation = static_cast<std::uint32_t>(correlation);
  span.thread = threads_[pid].intern(static_cast<std::uint64_t>(global_tid));
  span.kind = kind;
  keeper_.add(process(pid), span);
}

void NsysReader::read_calls() {
  file_.for_each("CUPTI_ACTIVITY_KIND_RUNTIME",
                 {"start", "end", "globalTid", "correlationId", "nameId"},
                 [&](const SqliteRow& row) {
                   TimeRange at;
                   if (!take_times(row, at)) return;
                   has_calls_ = true;
                   launchers_.insert(row.integer(2));
                   const bool waits = string_meaning(row.integer(4, -1)) == Meaning::synchronous;
                   add_host(row.integer(2), at, waits ? HostKind::synchronous : HostKind::call,
                            row.integer(3));
                 });
}

void NsysReader::read_ranges() {
  constexpr std::int64_t kPushPop = 59, kStartEnd = 60;
  file_.for_each(
      "NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "text", "textId"},
      [&](const SqliteRow& row) {
        const std::int64_t type = row.integer(2);
        TimeRange at;
        if ((type != kPushPop && type != kStartEnd) || !row.has(1) || !take_times(row, at)) return;
        ++ranges_;
        Meaning meaning = Meaning::operation;
        if (row.has(4)) {
          meaning = meaning_of_range(row.text(4));
        } else if (const Meaning known = string_meaning(row.integer(5, -1));
                   known != Meaning::none) {
          meaning = known;
        }
        take_range(row.integer(3), at, meaning);
      });
}

void NsysReader::take_range(std::int64_t global_tid, TimeRange at, Meaning meaning) {
  switch (meaning) {
    case Meaning::step:
      keeper_.add(process(process_number(global_tid)), StepMark{at.begin, at.end});
      return;
    case Meaning::loader_single:
      process(process_number(global_tid)).workers = 0;
      [[fallthrough]];
    case Meaning::loader:
      has_loader_ = true;
      launchers_.insert(global_tid);
      return add_host(global_tid, at, HostKind::loader_wait);
    case Meaning::lock:
      return add_host(global_tid, at, HostKind::lock_wait);
    default:
      return add_host(global_tid, at, HostKind::operation);
  }
}

// Reads the calls of threads that launch. The GPU waits for no other threads.
void NsysReader::read_system_calls() {
  file_.for_each("OSRT_API", {"start", "end", "globalTid", "nameId"}, [&](const SqliteRow& row) {
    TimeRange at;
    const Meaning meaning = string_meaning(row.integer(3, -1));
    if (meaning != Meaning::file_read && meaning != Meaning::system_wait) return;
    if (!launchers_.contains(row.integer(2)) || !take_times(row, at)) return;
    add_host(row.integer(2), at,
             meaning == Meaning::file_read ? HostKind::file_read : HostKind::system_wait);
  });
}

// A thread is off a core from the row that takes it from one to the next that puts it on one.
void NsysReader::read_scheduling() {
  std::unordered_map<std::int64_t, Nanos> off;
  file_.for_each("SCHED_EVENTS", {"start", "isSchedIn", "globalTid"}, [&](const SqliteRow& row) {
    const std::int64_t thread = row.integer(2);
    const Nanos at = row.integer(0, -1);
    if (!launchers_.contains(thread) || at < 0) return;
    if (row.integer(1) == 0) {
      off[thread] = at;
    } else if (const auto since = off.find(thread); since != off.end()) {
      if (at > since->second) add_host(thread, {since->second, at}, HostKind::off_core);
      off.erase(since);
    }
  });
}

void NsysReader::read_overhead() {
  for (const std::string_view table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"}) {
    file_.for_each(table, {"start", "end", "globalTid"}, [&](const SqliteRow& row) {
      TimeRange at;
      if (!take_times(row, at)) return;
      const auto found = processes_.find(process_number(row.integer(2)));
      if (found != processes_.end()) keeper_.add_overhead(run_.processes[found->second], at);
    });
  }
}

}  // namespace loaderscope::traces
