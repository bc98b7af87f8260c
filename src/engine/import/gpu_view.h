// When a traced GPU worked, copied and did nothing.
#pragma once

#include <array>

#include "engine/import/time_ranges.h"
#include "engine/import/traced_run.h"

namespace loaderscope::traces {

class GpuView {
 public:
  explicit GpuView(TracedGpu& gpu);  // takes its work away

  const Pieces& of(GpuKind kind) const { return work_.at(static_cast<std::size_t>(kind)); }
  // Excludes copies from and to the host.
  struct Busy {
    Nanos kernels = 0;          // a kernel of any kind ran
    Nanos only_collective = 0;  // only collectives ran
    TimeRanges collectives;     // time ranges of `only_collective`
    TimeRanges gaps;            // everything else
  };
  Busy busy(TimeRange within) const;

  struct Next {
    GpuKind kind{};
    const GpuPiece* piece = nullptr;  // null: nothing begins any more
  };
  Next next_from(Nanos at) const;     // the first that begins then or later
  Nanos quiet_since(Nanos at) const;  // the end of what ran last, where nothing runs at `at`

 private:
  std::array<Pieces, kGpuKinds> work_;
};

}  // namespace loaderscope::traces
