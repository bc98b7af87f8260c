// Time ranges in which a traced GPU waited, split by cause.
#pragma once

#include <array>

#include "analysis/gap_kinds.h"
#include "engine/import/gpu_view.h"
#include "engine/import/host_view.h"

namespace loaderscope::traces {

struct GapParts {
  std::array<Nanos, kGapKinds> of{};
  Nanos overhead = 0;  // cost of the tracing, which is no part of the run

  Nanos& operator[](GapKind kind) { return of[static_cast<std::size_t>(kind)]; }
  Nanos operator[](GapKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  GapParts& operator+=(const GapParts& other);
};

class GapReader {
 public:
  // Both references outlive this object. Host activity shorter than `noticeable` ns counts as
  // launching if nothing explains it.
  GapReader(const GpuView& gpu, const HostView& host, Nanos noticeable)
      : gpu_(gpu), host_(host), noticeable_(noticeable) {}

  // Splits a range in which the GPU was not busy.
  GapParts parts_of(TimeRange gap) const;

 private:
  void add_quiet(GapParts& parts, TimeRange quiet) const;
  void add_before_launch(GapParts& parts, const HostView::Thread& thread, TimeRanges rest,
                         Nanos quiet_since) const;

  const GpuView& gpu_;
  const HostView& host_;
  Nanos noticeable_;
};

}  // namespace loaderscope::traces
