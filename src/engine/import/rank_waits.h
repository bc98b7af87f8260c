// Times for which the ranks of a traced job waited for each other in collectives.
#pragma once

#include <string>
#include <vector>

#include "engine/import/gpu_view.h"
#include "engine/import/host_view.h"

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
  bool are_told = false;
  std::string untold;  // reason why collectives give no waits; else ""
};

// A rank's collective is the same as another's if both have one name, overlap, and end together:
// no rank is out of it before the last is in. The views are of one clock.
RankWaits waits_for_ranks(const std::vector<RankView>& views);

}  // namespace loaderscope::traces
