#include "engine/trace/gpu_view.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace loaderscope::traces {
namespace {

constexpr Nanos kFarAway = std::numeric_limits<Nanos>::max() / 4;  // beyond any time of a trace

bool is_from_host(GpuKind kind) {
  return kind == GpuKind::from_pageable || kind == GpuKind::from_pinned;
}

bool is_copy(GpuKind kind) { return is_from_host(kind) || kind == GpuKind::to_host; }

template <class Is>
Stretches union_of(const std::vector<GpuWork>& work, const Is& is) {
  Stretches set;
  for (const GpuWork& one : work)
    if (is(one.kind)) set.push_back({one.begin, one.end});
  return merged(std::move(set));
}

}  // namespace

GpuView::GpuView(TracedGpu& gpu) {
  std::vector<GpuWork> work = std::exchange(gpu.work, {});
  std::sort(work.begin(), work.end(),
            [](const GpuWork& a, const GpuWork& b) { return a.begin < b.begin; });
  const auto of = [&](auto is) { return union_of(work, is); };
  busy_ = of([](GpuKind kind) { return !is_copy(kind); });
  kernels_ = of([](GpuKind k) { return k == GpuKind::kernel || k == GpuKind::collective; });
  computing_ = of([](GpuKind k) { return k == GpuKind::kernel || k == GpuKind::memory; });
  pageable_ = of([](GpuKind kind) { return kind == GpuKind::from_pageable; });
  pinned_ = of([](GpuKind kind) { return kind == GpuKind::from_pinned; });
  to_host_ = of([](GpuKind kind) { return kind == GpuKind::to_host; });
  find_quiet(work);
  compare_streams(work);
}

void GpuView::find_quiet(const std::vector<GpuWork>& by_begin) {
  if (by_begin.empty()) return;
  const GpuWork& first = by_begin.front();
  extent_ = {first.begin, first.begin};
  quiet_.push_back({{-kFarAway, first.begin}, first.correlation, first.kind});
  for (const GpuWork& work : by_begin) {
    if (work.begin > extent_.end)
      quiet_.push_back({{extent_.end, work.begin}, work.correlation, work.kind});
    extent_.end = std::max(extent_.end, work.end);
  }
  quiet_.push_back({{extent_.end, kFarAway}});
}

// Whether most of what is copied from the host goes through a stream that no kernel runs on.
void GpuView::compare_streams(const std::vector<GpuWork>& work) {
  std::map<std::uint16_t, bool> has_kernels;
  for (const GpuWork& one : work)
    if (one.kind == GpuKind::kernel) has_kernels[one.stream] = true;
  Nanos own = 0, shared = 0;
  for (const GpuWork& one : work) {
    if (is_from_host(one.kind))
      (has_kernels.contains(one.stream) ? shared : own) += one.end - one.begin;
  }
  copies_on_own_stream_ = own > shared;
}

Nanos GpuView::only_collective(Stretch within) const {
  return covered(busy_, within) - covered(computing_, within);
}

}  // namespace loaderscope::traces
