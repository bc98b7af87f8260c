// A snapshot of one process from outside: its state, and its progress.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

#include "guest/protocol/page.h"
#include "hang/hang_facts.h"

namespace loaderscope::hang {

// All but what only the process itself or others know. `current_work`: null where it makes no
// batches. `root` is "/", or a folder with its own proc for tests.
ProcessFacts take_process_snapshot(pid_t process, const guest::CurrentWork* current_work,
                                   const std::filesystem::path& root = "/");

// Counters that grow while a process makes progress, and stay the same while it hangs.
struct Signs {
  double cpu_s = 0;        // also of what it has started, as a decoder of its own
  std::int64_t wakes = 0;  // wake-ups of its main thread, without those that we cause
  std::int64_t read = 0;   // bytes, by calls
  std::int64_t batch = -1, sample = -1;

  // Returns true if its current work has changed.
  bool has_moved_since(const Signs& before) const;
  // Returns true if it did more in `time` than poll now and then.
  bool was_busy_since(const Signs& before, Nanos time) const;
};
Signs signs_of(pid_t process, const guest::CurrentWork* current_work);

}  // namespace loaderscope::hang
