#include "engine/trace/traced_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

// 24 bytes each, so that all of them stay far below 300 MB while vectors grow.
constexpr std::int64_t kMostSpans = std::int64_t{6} << 20;

// Calls that return when the GPU is done: what they end in, without the version that some have
// behind them (cudaStreamSynchronize_v3020); and whole names, without "cuda".
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

bool is_collective(std::string_view kernel) {
  return kernel.starts_with("nccl") || kernel.find("ncclKernel") != kernel.npos ||
         kernel.find("ncclDevKernel") != kernel.npos || kernel.find("rcclGeneric") != kernel.npos;
}

std::uint16_t ThreadNumbers::of(std::uint64_t id) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  const auto number = static_cast<std::uint16_t>(std::min(known_.size(), kMost));
  if (known_.size() >= kMost && !known_.contains(id)) return number;
  return known_.emplace(id, number).first->second;
}

void SpanKeeper::count() {
  if (++kept_ <= kMostSpans) return;
  throw RunError(
      fmt::format("{}: has more than {} calls, ranges and kernels, and all of them are held at "
                  "once; record fewer steps",
                  place_, kMostSpans));
}

// What lies within the range before it, of the same thread and kind, says nothing more.
void SpanKeeper::add(TracedProcess& process, const HostSpan& span) {
  if (span.kind == HostKind::operation && !process.host.empty()) {
    HostSpan& last = process.host.back();
    const bool continues = last.kind == span.kind && last.thread == span.thread &&
                           span.begin >= last.begin && span.begin <= last.end;
    if (continues) {
      last.end = std::max(last.end, span.end);
      return;
    }
  }
  count();
  process.host.push_back(span);
}

void SpanKeeper::add(TracedGpu& gpu, const GpuWork& work, double bytes) {
  count();
  gpu.work.push_back(work);
  const bool pageable = work.kind == GpuKind::from_pageable;
  if (!pageable && work.kind != GpuKind::from_pinned) return;
  Copied& copied = pageable ? gpu.from_pageable : gpu.from_pinned;
  copied.time += work.end - work.begin;
  copied.bytes += bytes;
}

}  // namespace loaderscope::traces
