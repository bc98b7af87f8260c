// Reads the thread tables of an nsys export.
#include "engine/import/nsys_reader.h"

namespace loaderscope::traces {

void NsysReader::add_host(std::int64_t global_tid, TimeRange at, HostKind kind,
                          std::int64_t correlation) {
  const std::int64_t pid = process_of(global_tid);
  HostSpan span{at.begin, at.end};
  span.correlation = static_cast<std::uint32_t>(correlation);
  span.thread = threads_[pid].of(static_cast<std::uint64_t>(global_tid));
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
                   const bool waits = meaning_of(row.integer(4, -1)) == Meaning::synchronous;
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
        } else if (const Meaning known = meaning_of(row.integer(5, -1)); known != Meaning::none) {
          meaning = known;
        }
        take_range(row.integer(3), at, meaning);
      });
}

void NsysReader::take_range(std::int64_t global_tid, TimeRange at, Meaning meaning) {
  switch (meaning) {
    case Meaning::step:
      keeper_.add(process(process_of(global_tid)), StepMark{at.begin, at.end});
      return;
    case Meaning::loader_single:
      process(process_of(global_tid)).workers = 0;
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
    const Meaning meaning = meaning_of(row.integer(3, -1));
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
      const auto found = processes_.find(process_of(row.integer(2)));
      if (found != processes_.end()) keeper_.add_overhead(run_.processes[found->second], at);
    });
  }
}

}  // namespace loaderscope::traces
