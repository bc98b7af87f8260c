#include "engine/import/gaps.h"

#include <algorithm>

namespace loaderscope::traces {

GapParts& GapParts::operator+=(const GapParts& other) {
  for (std::size_t i = 0; i < kGapKinds; ++i) of.at(i) += other.of.at(i);
  overhead += other.overhead;
  return *this;
}

// First what the GPU did; where it did nothing, what the host did.
GapParts GapReader::parts_of(TimeRange gap) const {
  GapParts parts;
  TimeRanges rest = {gap};
  parts[GapKind::pageable_copy] = take(rest, gpu_.of(GpuKind::from_pageable));
  parts[GapKind::copy] = take(rest, gpu_.of(GpuKind::from_pinned));
  parts[GapKind::copy_back] = take(rest, gpu_.of(GpuKind::to_host));
  for (const TimeRange quiet : rest) add_quiet(parts, quiet);
  return parts;
}

void GapReader::add_quiet(GapParts& parts, TimeRange quiet) const {
  TimeRanges rest = {quiet};
  parts.overhead += take(rest, host_.overhead());
  const Nanos since = gpu_.quiet_since(quiet.begin);
  const GpuView::Next next = gpu_.next_from(quiet.end);
  const Launch* launch = next.piece != nullptr ? host_.launch_of(next.piece->correlation) : nullptr;
  if (launch == nullptr) return add_before_launch(parts, host_.main(), std::move(rest), since);
  // A copy from pageable memory is staged by the host before the GPU begins with it.
  const bool stages = next.kind == GpuKind::from_pageable;
  const TimeRanges launched = {
      {std::max(launch->begin, quiet.begin), std::max(launch->begin, quiet.end)}};
  parts[stages ? GapKind::pageable_copy : GapKind::launch] += take(rest, launched);
  add_before_launch(parts, host_.thread(launch->thread), std::move(rest), since);
}

void GapReader::add_before_launch(GapParts& parts, const HostView::Thread& thread, TimeRanges rest,
                                  Nanos quiet_since) const {
  if (rest.empty()) return;
  const auto& of = thread.of;
  const TimeRanges& synchronous = of[HostKind::synchronous];
  parts[GapKind::loader] += take(rest, of[HostKind::loader_wait]);
  parts[GapKind::lock] += take(rest, of[HostKind::lock_wait]);
  // Once the host has waited for the GPU, all that it does until it launches again is waited for.
  const auto waited = first_behind(synchronous, quiet_since);
  const bool comes_from_wait =
      waited != synchronous.end() && !rest.empty() && waited->begin < rest.back().end;
  parts[GapKind::synchronous] += take(rest, synchronous);
  parts[GapKind::file_read] += take(rest, of[HostKind::file_read]);
  parts[GapKind::system_wait] += take(rest, of[HostKind::system_wait]);
  parts[GapKind::off_core] += take(rest, of[HostKind::off_core]);
  parts[comes_from_wait ? GapKind::synchronous : GapKind::launch] += take(rest, thread.active);
  parts[GapKind::loader] += take(rest, host_.loader_waits());
  for (const TimeRange& range : rest) {
    const bool is_told = host_.has_loader() || range.length() < noticeable_;
    parts[is_told ? GapKind::launch : GapKind::unknown] += range.length();
  }
}

}  // namespace loaderscope::traces
