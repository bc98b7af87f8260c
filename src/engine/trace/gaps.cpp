#include "engine/trace/gaps.h"

#include <algorithm>

namespace loaderscope::traces {

GapParts& GapParts::operator+=(const GapParts& other) {
  for (std::size_t i = 0; i < kGapKinds; ++i) of.at(i) += other.of.at(i);
  overhead += other.overhead;
  return *this;
}

// First what the GPU did; where it did nothing, what the host did.
GapParts GapReader::parts_of(Stretch gap) const {
  GapParts parts;
  Stretches rest = {gap};
  parts[GapKind::pageable_copy] = take(rest, gpu_.pageable());
  parts[GapKind::copy] = take(rest, gpu_.pinned());
  parts[GapKind::copy_back] = take(rest, gpu_.to_host());
  const auto& quiet = gpu_.quiet();
  auto at = std::partition_point(quiet.begin(), quiet.end(), [&](const GpuView::Quiet& one) {
    return one.at.end <= gap.begin;
  });
  for (; at != quiet.end() && at->at.begin < gap.end; ++at)
    add_quiet(parts, *at, intersect(at->at, gap));
  return parts;
}

void GapReader::add_quiet(GapParts& parts, const GpuView::Quiet& quiet, Stretch at) const {
  Stretches rest = {at};
  parts.overhead += take(rest, host_.overhead());
  const HostView::Call* call = host_.call_of(quiet.correlation);
  if (call == nullptr) return add_before_launch(parts, host_.main(), std::move(rest), at.begin);
  // A copy from pageable memory is staged by the host before the GPU begins with it.
  const bool stages = quiet.next == GpuKind::from_pageable;
  const Stretches launched = {{std::max(call->begin, at.begin), std::max(call->begin, at.end)}};
  parts[stages ? GapKind::pageable_copy : GapKind::launch] += take(rest, launched);
  add_before_launch(parts, host_.thread(call->thread), std::move(rest), quiet.at.begin);
}

void GapReader::add_before_launch(GapParts& parts, const HostView::Thread& thread, Stretches rest,
                                  Nanos quiet_begin) const {
  if (rest.empty()) return;
  parts[GapKind::loader] += take(rest, thread.loader_waits);
  parts[GapKind::lock] += take(rest, thread.lock_waits);
  // Once the host has waited for the GPU, all that it does until it launches again is waited for.
  const auto waited = first_behind(thread.synchronous, quiet_begin);
  const bool comes_from_wait =
      waited != thread.synchronous.end() && !rest.empty() && waited->begin < rest.back().end;
  parts[GapKind::synchronous] += take(rest, thread.synchronous);
  parts[comes_from_wait ? GapKind::synchronous : GapKind::launch] += take(rest, thread.active);
  parts[GapKind::loader] += take(rest, host_.loader_waits());
  for (const Stretch& stretch : rest) {
    const bool is_told = host_.has_loader() || stretch.length() < noticeable_;
    parts[is_told ? GapKind::launch : GapKind::unknown] += stretch.length();
  }
}

}  // namespace loaderscope::traces
