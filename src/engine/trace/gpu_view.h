// When a traced GPU worked, copied and did nothing.
#pragma once

#include <deque>

#include "engine/trace/stretches.h"
#include "engine/trace/traced_run.h"

namespace loaderscope::traces {

class GpuView {
 public:
  explicit GpuView(TracedGpu& gpu);  // takes its work away, of which there is some

  const Stretches& busy() const { return busy_; }  // with anything but copies to and from it
  const Stretches& pageable() const { return pageable_; }
  const Stretches& pinned() const { return pinned_; }
  const Stretches& to_host() const { return to_host_; }
  Nanos kernels(Stretch within) const;          // a kernel of any kind ran
  Nanos only_collective(Stretch within) const;  // of `busy`: nothing but collectives ran
  Stretch extent() const { return extent_; }    // from the first work to the end of the last
  bool copies_on_own_stream() const { return copies_on_own_stream_; }

  const GpuWork* next_from(Nanos at) const;  // the first that begins then or later; null: none does
  Nanos quiet_since(Nanos at) const;         // the end of what ran last, where nothing runs at `at`

 private:
  void compare_streams();

  std::deque<GpuWork> work_;  // by begin
  Stretches busy_, pageable_, pinned_, to_host_;
  Stretch extent_;
  bool copies_on_own_stream_ = false;
};

}  // namespace loaderscope::traces
