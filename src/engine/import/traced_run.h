// A run of another program as a trace describes it, independent of the tool. Readers fill it, and
// the record is made of it alone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time_range.h"
#include "loaderscope/units.h"

namespace loaderscope::traces {

enum class GpuKind : std::uint8_t {
  kernel,         // or a graph of them
  collective,     // a kernel that exchanges data with other ranks
  memory,         // memory set by the GPU, and copies within or between GPUs
  from_pageable,  // copies from the host
  from_pinned,
  to_host,
};
inline constexpr std::size_t kGpuKinds = 6;

// Something that a GPU did, as a reader hands it in.
struct GpuWork {
  Nanos begin = 0, end = 0;
  std::uint32_t correlation = 0;  // number shared with the call that launched it; 0: not known
  std::uint16_t stream = 0;
  GpuKind kind = GpuKind::kernel;
  double bytes = 0;        // bytes of a copy
  std::uint32_t name = 0;  // number of a collective's name, the same in all traces
};

// The stored form of work. Work longer than 4 s takes several pieces.
struct GpuPiece {
  Nanos begin = 0;
  std::uint32_t length = 0;
  std::uint32_t correlation = 0;
};
static_assert(sizeof(GpuPiece) == 16);

// A collective that all its ranks take part in.
struct Collective {
  Nanos begin = 0, end = 0;
  std::uint32_t name = 0;
};

enum class HostKind : std::uint8_t {
  call,         // a call of the CUDA API
  operation,    // a framework operation, or a range that the program named
  synchronous,  // a call that returns when the GPU has done what it was given
  loader_wait,  // a wait for the next batch
  lock_wait,    // a wait for Python's lock
  file_read,    // a call of the operating system that reads
  system_wait,  // one that waits for another thread or process
  off_core,     // no core was in use
};
inline constexpr std::size_t kHostKinds = 8;

// One set per kind. Calls and operations have empty sets, as they are not distinguished.
template <class Set>
class PerHostKind {
 public:
  Set& operator[](HostKind kind) { return sets_[static_cast<std::size_t>(kind)]; }
  const Set& operator[](HostKind kind) const { return sets_[static_cast<std::size_t>(kind)]; }
  auto begin() { return sets_.begin(); }
  auto end() { return sets_.end(); }
  auto begin() const { return sets_.begin(); }
  auto end() const { return sets_.end(); }

 private:
  std::array<Set, kHostKinds> sets_;
};

// Something that a thread did, as a reader hands it in.
struct HostSpan {
  Nanos begin = 0, end = 0;
  std::uint32_t correlation = 0;
  std::uint16_t thread = 0;  // number in its process, in order of first spans
  HostKind kind = HostKind::call;
};

struct StepMark {
  Nanos begin = 0, end = 0;
  std::int64_t number = -1;  // the mark's own number; -1: it has no number
};

// Ranges in the order of arrival.
struct TracedThread {
  PerHostKind<std::vector<TimeRange>> ranges;
  std::deque<TimeRange> active;  // in a call or an operation, whichever
  std::int64_t calls = 0;
};

struct Launch {
  Nanos begin = 0;
  std::uint32_t correlation = 0;
  std::uint16_t thread = 0;
};

// Lists that may have millions of items are deques. A vector would hold them twice while it grows.
struct TracedProcess {
  std::string name;
  std::optional<Nanos> origin;  // time 0 of its viewer; else its first event
  std::vector<TracedThread> threads;
  std::deque<Launch> launches;          // calls with a correlation
  std::vector<StepMark> steps;          // steps that were marked
  std::vector<TimeRange> overhead;      // time ranges of the tracing's own work
  std::optional<std::int64_t> workers;  // workers of its DataLoader; 0: it makes its batches itself
  bool is_sampled = false;              // if true, requests and steps are missing

  bool is_empty() const { return threads.empty() && steps.empty(); }
  TimeRange extent() const;  // range of all known events; requires a process that is not empty
  void shift(Nanos delta);   // all times of it
};

struct Copied {
  Nanos time = 0;
  double bytes = 0;
};

struct StreamUse {
  bool has_kernels = false;
  Nanos copying = 0;  // ns of copies from the host
};

struct TracedGpu {
  std::size_t process = 0;
  std::string name;
  std::array<std::deque<GpuPiece>, kGpuKinds> work;  // pieces per kind
  std::deque<Collective> collectives;                // these are in `work`, too
  std::map<std::uint16_t, StreamUse> streams;
  Copied from_pageable, from_pinned;
  std::optional<TimeRange> extent;  // range from the first begin to the last end

  void shift(Nanos delta);
  bool copies_on_own_stream() const;  // most of what comes from the host
};

// Numbers of stack samples of the training thread, indexed by its state.
struct SampledShares {
  std::array<std::int64_t, 7> counts{};
  std::int64_t all = 0;
  bool in_order = true;
};

struct TracedRun {
  std::string tool;  // "torch.profiler", "nsys 2026.2.1"
  std::optional<std::string> host, gpus;
  std::vector<TracedProcess> processes;
  std::vector<TracedGpu> gpus_used;
  bool has_calls = false;      // the CUDA calls of the host were recorded
  bool has_loader = false;     // waits for a DataLoader are there
  std::string no_loader;       // reason why none may be there, and what to record; "" if has_loader
  bool is_one_host = true;     // the files do not contradict each other about the host
  std::string more_to_record;  // advice on recording that would explain unknown gaps; "": nothing
  std::int64_t unusable = 0;   // events whose times make no sense
  std::optional<SampledShares> sampled;
  std::vector<std::string> notes;
};

// A range around the next batch, as PyTorch names it. `single`: without workers.
struct LoaderRange {
  bool single = false;
};
std::optional<LoaderRange> loader_range(std::string_view name);
std::optional<std::int64_t> profiler_step(std::string_view name);  // parses "ProfilerStep#12"
HostKind kind_of_call(std::string_view name);                      // a CUDA runtime or driver call
bool is_collective(std::string_view kernel);
// Returns the number for GpuWork::name. 0 if a rank sends to only one other rank.
std::uint32_t collective_name(std::string_view kernel);
std::optional<HostKind> kind_of_system_call(std::string_view name);  // calls that may take long

// Threads of a process by whatever number its tool gives them.
class ThreadNumbers {
 public:
  std::uint16_t intern(std::uint64_t id);

 private:
  std::unordered_map<std::uint64_t, std::uint16_t> known_;
};

// Keeps what is needed of what readers hand in, in bounded memory. Throws RunError beyond that.
class SpanKeeper {
 public:
  explicit SpanKeeper(std::string place) : place_(std::move(place)) {}

  void add(TracedProcess& process, const HostSpan& span);
  void add(TracedProcess& process, const StepMark& mark);
  void add_overhead(TracedProcess& process, TimeRange at);
  void add(TracedGpu& gpu, const GpuWork& work);

 private:
  void add_active(TracedThread& thread, TimeRange at);
  void count(Bytes bytes);

  std::string place_;
  Bytes kept_ = 0;
};

}  // namespace loaderscope::traces
