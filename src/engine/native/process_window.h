// The activity of the run's processes, and of other programs, within the window of its first rank.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "machine/machine_load.h"
#include "machine/process_counters.h"
#include "machine/standstill.h"

namespace loaderscope::native {

class ProcessWindow {
 public:
  // `processes`: the worker processes, at any time.
  explicit ProcessWindow(std::function<OtherProcesses()> processes)
      : processes_(std::move(processes)) {}

  void run_begins();
  // Marks a possible begin of the window, which is the end of the last warm-up step. A step is
  // known to be the last of the warm-up only when the next one ends. Call this after each step.
  void may_begin();
  void warmup_goes_on() { begin_known_ = false; }
  void begins();
  void look();  // now and then
  void ends(std::int64_t loader_threads);

  std::vector<Metric> metrics(const RankRecord& first) const;
  const std::vector<Detail>& other_programs() const { return other_programs_; }

 private:
  OtherPrograms other_programs_now() const;

  std::function<OtherProcesses()> processes_;
  ProcessCounters begin_, end_;
  bool begin_known_ = false;
  std::optional<OtherPrograms> programs_before_;  // the run began
  std::vector<Detail> other_programs_;            // covers the time until the window ended
  std::optional<StandstillWatch> standstills_;
  MemoryWatch memory_;
  std::int64_t loader_threads_ = 0;  // number at the end
};

}  // namespace loaderscope::native
