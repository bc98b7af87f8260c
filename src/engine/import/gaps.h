// What a GPU waited for in a range of time.
#pragma once

#include <array>

#include "analysis/gap_kinds.h"
#include "engine/import/gpu_view.h"
#include "engine/import/host_view.h"

namespace loaderscope::traces {

struct GapParts {
  std::array<Nanos, kGapKinds> of{};
  Nanos overhead = 0;  // of the tracing: no part of the run

  Nanos& operator[](GapKind kind) { return of[static_cast<std::size_t>(kind)]; }
  Nanos operator[](GapKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  GapParts& operator+=(const GapParts& other);
};

class GapReader {
 public:
  // Both outlive this. `noticeable`: what the host does in less, and nothing tells of, is
  // launching.
  GapReader(const GpuView& gpu, const HostView& host, Nanos noticeable)
      : gpu_(gpu), host_(host), noticeable_(noticeable) {}

  // Of a range in which the GPU was not busy.
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
