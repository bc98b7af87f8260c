#include "engine/import/traced_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "base/hash.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

// Limit for all kept data and for everything that is derived from it. The whole program stays below
// 300 MB.
constexpr Bytes kMaxKept = Bytes{225} << 20;
constexpr Bytes kThreadBytes = 1024;  // a thread, whose deque has a first piece
constexpr Bytes kStepBytes = 256;     // a mark, which becomes a step of a rank

// Calls that return when the GPU is done. The first list has endings of names, without a version
// suffix (cudaStreamSynchronize_v3020). The second has whole names without "cuda".
constexpr std::string_view kEndsOfSynchronous[] = {"Synchronize", "Free"};
constexpr std::string_view kSynchronous[] = {"Memcpy",         "Memcpy2D",         "Memcpy3D",
                                             "MemcpyToSymbol", "MemcpyFromSymbol", "MemcpyHtoD",
                                             "MemcpyDtoH",     "MemcpyDtoD"};

std::string_view without_version(std::string_view name) {
  const auto at = name.rfind("_v");
  if (at == name.npos || at + 2 >= name.size()) return name;
  const std::string_view digits = name.substr(at + 2);
  const bool is_version = digits.find_first_not_of("0123456789") == digits.npos;
  return is_version ? name.substr(0, at) : name;
}

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

}  // namespace

std::optional<LoaderRange> loader_range(std::string_view name) {
  if (!name.starts_with("enumerate(DataLoader)#") || name.find("__next__") == name.npos)
    return std::nullopt;
  return LoaderRange{name.find("SingleProcess") != name.npos};
}

std::optional<std::int64_t> profiler_step(std::string_view name) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (!name.starts_with(kStep)) return std::nullopt;
  const std::string_view digits = name.substr(kStep.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  return number;
}

HostKind kind_of_call(std::string_view name) {
  const std::string_view call = without_prefix(without_version(name));
  const bool waits =
      std::ranges::any_of(kEndsOfSynchronous,
                          [&](std::string_view end) { return call.ends_with(end); }) ||
      std::ranges::find(kSynchronous, call) != std::end(kSynchronous);
  return waits ? HostKind::synchronous : HostKind::call;
}

std::uint32_t collective_name(std::string_view kernel) {
  if (kernel.find("SendRecv") != kernel.npos) return 0;
  return std::max(static_cast<std::uint32_t>(hash_text(kernel)), 1U);
}

std::optional<HostKind> kind_of_system_call(std::string_view name) {
  constexpr std::string_view kReads[] = {
      "read",  "pread",   "pread64",  "readv",          "preadv", "preadv2",  "fread",
      "fgets", "getline", "getdelim", "fread_unlocked", "recv",   "recvfrom", "recvmsg"};
  constexpr std::string_view kWaits[] = {"poll",
                                         "ppoll",
                                         "select",
                                         "pselect",
                                         "epoll_wait",
                                         "epoll_pwait",
                                         "sem_wait",
                                         "sem_timedwait",
                                         "sem_clockwait",
                                         "pthread_cond_wait",
                                         "pthread_cond_timedwait",
                                         "pthread_cond_clockwait",
                                         "pthread_mutex_lock",
                                         "pthread_mutex_timedlock",
                                         "pthread_join",
                                         "pthread_rwlock_rdlock",
                                         "pthread_rwlock_wrlock",
                                         "pthread_barrier_wait",
                                         "futex",
                                         "wait",
                                         "wait4",
                                         "waitpid",
                                         "waitid",
                                         "nanosleep",
                                         "clock_nanosleep",
                                         "sleep",
                                         "usleep",
                                         "msgrcv",
                                         "semop",
                                         "semtimedop",
                                         "sigwait",
                                         "sigtimedwait",
                                         "io_getevents"};
  if (std::ranges::find(kReads, name) != std::end(kReads)) return HostKind::file_read;
  if (std::ranges::find(kWaits, name) != std::end(kWaits)) return HostKind::system_wait;
  return std::nullopt;
}

bool is_collective(std::string_view kernel) {
  return kernel.starts_with("nccl") || kernel.find("ncclKernel") != kernel.npos ||
         kernel.find("ncclDevKernel") != kernel.npos || kernel.find("rcclGeneric") != kernel.npos;
}

std::uint16_t ThreadNumbers::intern(std::uint64_t id) {
  constexpr std::size_t kMax = std::numeric_limits<std::uint16_t>::max();
  const auto number = static_cast<std::uint16_t>(std::min(known_.size(), kMax));
  if (known_.size() >= kMax && !known_.contains(id)) return number;
  return known_.emplace(id, number).first->second;
}

void SpanKeeper::count(Bytes bytes) {
  kept_ += bytes;
  if (kept_ <= kMaxKept) return;
  throw RunError(fmt::format("{}: has more calls, ranges and kernels than can be held in {} MiB",
                             place_, kMaxKept >> 20),
                 "record fewer steps");
}

// Calls lie within operations, and both follow one another closely: what is between two of them by
// less than anybody looks at is the same host's doing.
void SpanKeeper::add_active(TracedThread& thread, TimeRange at) {
  constexpr Nanos kJoined = 5 * kMicrosecond;
  std::deque<TimeRange>& active = thread.active;
  if (!active.empty() && at.begin >= active.back().begin &&
      at.begin <= active.back().end + kJoined) {
    active.back().end = std::max(active.back().end, at.end);
    return;
  }
  const auto next = std::partition_point(active.begin(), active.end(),
                                         [&](const TimeRange& one) { return one.end < at.end; });
  if (next != active.end() && next->begin <= at.begin) return;
  count(2 * sizeof(TimeRange));
  active.push_back(at);
}

void SpanKeeper::add(TracedProcess& process, const HostSpan& span) {
  if (process.threads.size() <= span.thread) {
    const std::size_t more = std::size_t{span.thread} + 1 - process.threads.size();
    count(static_cast<Bytes>(more) * kThreadBytes);
    process.threads.resize(std::size_t{span.thread} + 1);
  }
  TracedThread& thread = process.threads[span.thread];
  const TimeRange at = {span.begin, span.end};
  const bool is_call = span.kind == HostKind::call || span.kind == HostKind::synchronous;
  thread.calls += is_call;
  if (is_call && span.correlation != 0) {
    count(sizeof(Launch));
    process.launches.push_back({span.begin, span.correlation, span.thread});
  }
  if (span.kind == HostKind::call || span.kind == HostKind::operation)
    return add_active(thread, at);
  count(2 * sizeof(TimeRange));
  thread.ranges[span.kind].push_back(at);
}

void SpanKeeper::add(TracedProcess& process, const StepMark& mark) {
  count(kStepBytes);
  process.steps.push_back(mark);
}

void SpanKeeper::add_overhead(TracedProcess& process, TimeRange at) {
  count(2 * sizeof(TimeRange));
  process.overhead.push_back(at);
}

void SpanKeeper::add(TracedGpu& gpu, const GpuWork& work) {
  constexpr Nanos kMaxLength = std::numeric_limits<std::uint32_t>::max();
  Nanos begin = work.begin;
  do {
    const Nanos length = std::min(work.end - begin, kMaxLength);
    count(sizeof(GpuPiece));
    gpu.work.at(static_cast<std::size_t>(work.kind))
        .push_back({begin, static_cast<std::uint32_t>(length), work.correlation});
    begin += length;
  } while (begin < work.end);
  if (!gpu.extent) gpu.extent = {work.begin, work.end};
  gpu.extent = {std::min(gpu.extent->begin, work.begin), std::max(gpu.extent->end, work.end)};
  if (work.kind == GpuKind::collective && work.name != 0) {
    count(sizeof(Collective));
    gpu.collectives.push_back({work.begin, work.end, work.name});
  }
  gpu.streams[work.stream].has_kernels |= work.kind == GpuKind::kernel;
  const bool pageable = work.kind == GpuKind::from_pageable;
  if (!pageable && work.kind != GpuKind::from_pinned) return;
  Copied& copied = pageable ? gpu.from_pageable : gpu.from_pinned;
  copied.time += work.end - work.begin;
  copied.bytes += work.bytes;
  gpu.streams[work.stream].copying += work.end - work.begin;
}

void TracedGpu::shift(Nanos delta) {
  for (auto& pieces : work)
    for (GpuPiece& piece : pieces) piece.begin += delta;
  for (Collective& collective : collectives) {
    collective.begin += delta;
    collective.end += delta;
  }
  if (extent) extent = {extent->begin + delta, extent->end + delta};
}

bool TracedGpu::copies_on_own_stream() const {
  Nanos own = 0, shared = 0;
  for (const auto& [number, stream] : streams)
    (stream.has_kernels ? shared : own) += stream.copying;
  return own > shared;
}

namespace {

// Calls `visit` with every pair of times of the process, to look at or to change.
template <class Process, class Visit>
void for_each_range(Process& process, const Visit& visit) {
  for (auto& thread : process.threads) {
    for (auto& set : thread.ranges)
      for (auto& at : set) visit(at.begin, at.end);
    for (auto& at : thread.active) visit(at.begin, at.end);
  }
  for (auto& mark : process.steps) visit(mark.begin, mark.end);
}

}  // namespace

TimeRange TracedProcess::extent() const {
  TimeRange all = {std::numeric_limits<Nanos>::max(), std::numeric_limits<Nanos>::min()};
  for_each_range(*this, [&](const Nanos& begin, const Nanos& end) {
    all = {std::min(all.begin, begin), std::max(all.end, end)};
  });
  return all;
}

void TracedProcess::shift(Nanos delta) {
  for_each_range(*this, [delta](Nanos& begin, Nanos& end) {
    begin += delta;
    end += delta;
  });
  for (TimeRange& at : overhead) at = {at.begin + delta, at.end + delta};
  for (Launch& launch : launches) launch.begin += delta;
}

}  // namespace loaderscope::traces
