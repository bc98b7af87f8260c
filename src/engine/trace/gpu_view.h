// When a traced GPU worked, copied and did nothing.
#pragma once

#include <vector>

#include "engine/trace/stretches.h"
#include "engine/trace/traced_run.h"

namespace loaderscope::traces {

class GpuView {
 public:
  // Nothing runs, until something that the call with this correlation launched begins. The first
  // one began before all times, the last one goes on behind all of them.
  struct Quiet {
    Stretch at;
    std::uint32_t correlation = 0;
    GpuKind next = GpuKind::kernel;
  };

  explicit GpuView(TracedGpu& gpu);  // takes its work away

  const Stretches& busy() const { return busy_; }        // with anything but copies to and from it
  const Stretches& kernels() const { return kernels_; }  // of any kind
  // Of `busy`: with nothing but what exchanges data with other ranks.
  Nanos only_collective(Stretch within) const;
  const Stretches& pageable() const { return pageable_; }
  const Stretches& pinned() const { return pinned_; }
  const Stretches& to_host() const { return to_host_; }
  const std::vector<Quiet>& quiet() const { return quiet_; }
  Stretch extent() const { return extent_; }  // from the first work to the end of the last
  bool copies_on_own_stream() const { return copies_on_own_stream_; }

 private:
  void find_quiet(const std::vector<GpuWork>& by_begin);
  void compare_streams(const std::vector<GpuWork>& work);

  Stretches busy_, kernels_, computing_, pageable_, pinned_, to_host_;
  std::vector<Quiet> quiet_;
  Stretch extent_;
  bool copies_on_own_stream_ = false;
};

}  // namespace loaderscope::traces
