// Activity of the host threads and of the GPU of a traced rank.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/import/time_ranges.h"
#include "engine/import/traced_run.h"

namespace loaderscope::traces {

// Indexes the activity of the threads of a traced process by time.
class HostView {
 public:
  struct Thread {
    PerHostKind<TimeRanges> ranges;
    TimeRanges active;  // in a call or an operation, whichever
  };
  explicit HostView(TracedProcess& process);  // takes its spans away

  const Launch* find_launch(std::uint32_t correlation) const;  // null: it is not known
  const Thread& thread(std::uint16_t number) const { return threads_.at(number); }
  const Thread& main() const { return threads_.at(main_); }
  const TimeRanges& loader_waits() const { return loader_waits_; }  // merged over all threads
  const TimeRanges& overhead() const { return overhead_; }
  bool has_loader() const { return !loader_waits_.empty(); }
  bool is_sampled() const { return is_sampled_; }
  // The begins of the waits of the thread that has most of them.
  const std::vector<TimeRange>& loader_calls() const { return loader_calls_; }

 private:
  void choose_main(const std::vector<TracedThread>& threads);

  std::vector<Thread> threads_;
  std::deque<Launch> launches_;  // sorted by correlation
  TimeRanges loader_waits_, overhead_;
  std::vector<TimeRange> loader_calls_;
  std::size_t main_ = 0;
  bool is_sampled_ = false;
};

// When a traced GPU worked, copied and did nothing.
class GpuView {
 public:
  explicit GpuView(TracedGpu& gpu);  // takes its work away

  const Pieces& work(GpuKind kind) const { return work_.at(static_cast<std::size_t>(kind)); }
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
