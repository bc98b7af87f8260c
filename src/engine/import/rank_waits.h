// Times for which the ranks of a traced job waited for each other in collectives.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/gap_kinds.h"
#include "engine/import/rank_views.h"

namespace loaderscope::traces {

struct RankView {
  const GpuView* gpu = nullptr;
  const HostView* host = nullptr;
  const std::deque<Collective>* collectives = nullptr;
};

struct RankWait {
  // Time in a collective that another rank had not begun ...
  Nanos for_any = 0;
  // ... because that one's GPU did nothing and its process waited for its DataLoader.
  TimeRanges for_loader;
  std::int64_t came_last = 0;  // collectives in which others waited for this rank's DataLoader
};

struct RankWaits {
  std::vector<RankWait> ranks;  // same order as the views
  bool are_known = false;
  std::string untold;  // reason why collectives give no waits; else ""
};

// A rank's collective is the same as another's if both have one name, overlap, and end together:
// no rank is out of it before the last is in. The views are of one clock.
RankWaits waits_for_ranks(const std::vector<RankView>& views);

// Time ranges in which a traced GPU waited, split by cause.
struct GapParts {
  std::array<Nanos, kGapKinds> times{};
  Nanos overhead = 0;  // cost of the tracing, which is no part of the run

  Nanos& operator[](GapKind kind) { return times[static_cast<std::size_t>(kind)]; }
  Nanos operator[](GapKind kind) const { return times[static_cast<std::size_t>(kind)]; }
  GapParts& operator+=(const GapParts& other);
};

class GapReader {
 public:
  // Both references outlive this object. Host activity shorter than `noticeable` ns counts as
  // launching if nothing explains it.
  GapReader(const GpuView& gpu, const HostView& host, Nanos noticeable)
      : gpu_(gpu), host_(host), noticeable_(noticeable) {}

  // Splits a range in which the GPU was not busy.
  GapParts split_gap(TimeRange gap) const;

 private:
  void add_quiet(GapParts& parts, TimeRange quiet) const;
  void add_before_launch(GapParts& parts, const HostView::Thread& thread, TimeRanges rest,
                         Nanos quiet_since) const;

  const GpuView& gpu_;
  const HostView& host_;
  Nanos noticeable_;
};

}  // namespace loaderscope::traces
