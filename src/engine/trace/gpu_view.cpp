#include "engine/trace/gpu_view.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace loaderscope::traces {
namespace {

bool is_from_host(GpuKind kind) {
  return kind == GpuKind::from_pageable || kind == GpuKind::from_pinned;
}

bool is_copy(GpuKind kind) { return is_from_host(kind) || kind == GpuKind::to_host; }
bool is_kernel(GpuKind kind) { return kind == GpuKind::kernel || kind == GpuKind::collective; }

// Calls `visit` with each stretch in which some of the work ran that `is` of its kind. A last one
// is told at the end, and so is nothing where there is none.
template <class Is, class Visit>
void for_each_union(const std::deque<GpuWork>& by_begin, const Is& is, const Visit& visit) {
  Stretch current;
  for (const GpuWork& work : by_begin) {
    if (!is(work.kind) || work.end <= work.begin) continue;
    if (current.length() > 0 && work.begin <= current.end) {
      current.end = std::max(current.end, work.end);
      continue;
    }
    if (current.length() > 0) visit(current);
    current = {work.begin, work.end};
  }
  if (current.length() > 0) visit(current);
}

template <class Is>
Stretches union_of(const std::deque<GpuWork>& by_begin, const Is& is) {
  Stretches set;
  for_each_union(by_begin, is, [&](Stretch at) { set.push_back(at); });
  return set;
}

template <class Is>
Nanos time_of(const std::deque<GpuWork>& by_begin, const Is& is, Stretch within) {
  Nanos sum = 0;
  for_each_union(by_begin, is, [&](Stretch at) { sum += intersect(at, within).length(); });
  return sum;
}

}  // namespace

GpuView::GpuView(TracedGpu& gpu) : work_(std::exchange(gpu.work, {})) {
  std::sort(work_.begin(), work_.end(),
            [](const GpuWork& a, const GpuWork& b) { return a.begin < b.begin; });
  busy_ = union_of(work_, [](GpuKind kind) { return !is_copy(kind); });
  pageable_ = union_of(work_, [](GpuKind kind) { return kind == GpuKind::from_pageable; });
  pinned_ = union_of(work_, [](GpuKind kind) { return kind == GpuKind::from_pinned; });
  to_host_ = union_of(work_, [](GpuKind kind) { return kind == GpuKind::to_host; });
  extent_ = {work_.front().begin, work_.front().end};
  for (const GpuWork& work : work_) extent_.end = std::max(extent_.end, work.end);
  compare_streams();
}

// Whether most of what is copied from the host goes through a stream that no kernel runs on.
void GpuView::compare_streams() {
  std::set<std::uint16_t> with_kernels;
  for (const GpuWork& work : work_)
    if (work.kind == GpuKind::kernel) with_kernels.insert(work.stream);
  Nanos own = 0, shared = 0;
  for (const GpuWork& work : work_) {
    if (is_from_host(work.kind))
      (with_kernels.contains(work.stream) ? shared : own) += work.end - work.begin;
  }
  copies_on_own_stream_ = own > shared;
}

Nanos GpuView::kernels(Stretch within) const { return time_of(work_, is_kernel, within); }

Nanos GpuView::only_collective(Stretch within) const {
  const auto computes = [](GpuKind k) { return k == GpuKind::kernel || k == GpuKind::memory; };
  return covered(busy_, within) - time_of(work_, computes, within);
}

const GpuWork* GpuView::next_from(Nanos at) const {
  const auto next = std::partition_point(work_.begin(), work_.end(),
                                         [at](const GpuWork& work) { return work.begin < at; });
  return next == work_.end() ? nullptr : &*next;
}

Nanos GpuView::quiet_since(Nanos at) const {
  Nanos since = std::numeric_limits<Nanos>::min();
  for (const Stretches* set : {&busy_, &pageable_, &pinned_, &to_host_}) {
    const auto behind = first_behind(*set, at);
    if (behind != set->begin()) since = std::max(since, std::prev(behind)->end);
  }
  return since;
}

}  // namespace loaderscope::traces
