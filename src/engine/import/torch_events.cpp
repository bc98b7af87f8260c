#include "engine/import/torch_events.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

namespace loaderscope::traces {
namespace {

// µs, and ns of baseTimeNanoseconds: both together are still a time.
constexpr double kFarthest = 4e15, kFarthestBase = 4e18;

// "Memcpy HtoD (Pageable -> Device)"
GpuKind kind_of_copy(std::string_view name) {
  if (name.find("HtoD") != name.npos || name.find("HtoA") != name.npos)
    return name.find("(Pageable") != name.npos ? GpuKind::from_pageable : GpuKind::from_pinned;
  if (name.find("DtoH") != name.npos || name.find("AtoH") != name.npos) return GpuKind::to_host;
  return GpuKind::memory;
}

}  // namespace

void RankReader::take(const TorchEvent& event) {
  if (event.phase != "X") return;
  ++events_;
  const bool makes_sense = event.begin >= 0 && event.begin < kFarthest && event.length >= 0 &&
                           event.length < kFarthest - event.begin;
  if (!makes_sense) {
    ++unusable_;
    return;
  }
  const Nanos begin = std::llround(1e3 * event.begin);
  const TimeRange at = {begin, begin + std::llround(1e3 * event.length)};
  const std::string& category = event.category;
  if (category == "kernel") {
    take_gpu(event, is_collective(event.name) ? GpuKind::collective : GpuKind::kernel, at);
  } else if (category == "gpu_memcpy") {
    take_gpu(event, kind_of_copy(event.name), at);
  } else if (category == "gpu_memset") {
    take_gpu(event, GpuKind::memory, at);
  } else if (category == "cuda_runtime" || category == "cuda_driver") {
    has_calls_ = true;
    take_host(event, kind_of_call(event.name), at);
  } else if (category == "user_annotation" || category == "cpu_op") {
    take_range(event, at);
  } else if (category == "overhead") {
    keeper_.add_overhead(process_, at);
  }
}

void RankReader::take_gpu(const TorchEvent& event, GpuKind kind, TimeRange at) {
  constexpr std::size_t kMaxGpus = 1024;
  if (gpus_.size() >= kMaxGpus && !gpus_.contains(event.device)) {
    ++unusable_;
    return;
  }
  GpuWork work{at.begin, at.end};
  work.correlation = static_cast<std::uint32_t>(event.correlation);
  work.stream = static_cast<std::uint16_t>(event.stream);
  work.kind = kind;
  if (kind == GpuKind::collective) work.name = collective_name(event.name);
  work.bytes = event.bytes;
  keeper_.add(gpus_[event.device], work);
}

void RankReader::take_host(const TorchEvent& event, HostKind kind, TimeRange at) {
  HostSpan span{at.begin, at.end};
  span.correlation = static_cast<std::uint32_t>(event.correlation);
  span.thread = threads_.of(event.thread);
  span.kind = kind;
  keeper_.add(process_, span);
}

void RankReader::take_range(const TorchEvent& event, TimeRange at) {
  if (const auto range = loader_range(event.name)) {
    has_loader_ = true;
    if (range->single) process_.workers = 0;
    take_host(event, HostKind::loader_wait, at);
  } else if (const auto step = profiler_step(event.name)) {
    if (step_range_.empty()) keeper_.add(process_, StepMark{at.begin, at.end, *step});
  } else if (!step_range_.empty() && event.name == step_range_) {
    keeper_.add(process_, StepMark{at.begin, at.end});
  } else {
    take_host(event, HostKind::operation, at);
  }
}

void RankReader::finish(TracedRun& run, std::int64_t rank, double base) {
  const std::size_t index = run.processes.size();
  process_.name = rank >= 0 ? fmt::format("rank {}", rank) : fmt::format("file {}", index);
  const Nanos shift = base > 0 && base < kFarthestBase ? static_cast<Nanos>(base) : 0;
  process_.shift(shift);
  for (auto& [device, gpu] : gpus_) {
    gpu.shift(shift);
    gpu.process = index;
    gpu.name = fmt::format("{}, GPU {}", process_.name, device);
    run.gpus_used.push_back(std::move(gpu));
  }
  run.has_calls |= has_calls_;
  run.has_loader |= has_loader_;
  run.unusable += unusable_;
  run.processes.push_back(std::move(process_));
}

}  // namespace loaderscope::traces
