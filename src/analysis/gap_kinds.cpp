#include "analysis/gap_kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace loaderscope::traces {

std::span<const GapRow> gap_table() {
  static const GapRow table[kGapKinds] = {
      {{"loader-wait",
        "The GPU is idle while the launching thread waits for its DataLoader's next batch."},
       Cause::opaque,
       "the DataLoader"},
      {{"pageable-copy",
        "The GPU only runs a copy from pageable host memory, or the host is staging one."},
       Cause::h2d,
       "copies from pageable memory"},
      {{"copy-not-hidden", "A copy from page-locked memory ran on the GPU, and nothing else."},
       Cause::h2d,
       "copies that nothing hides"},
      {{"copy-back", "A copy to the host ran on the GPU, and nothing else: .item(), .cpu()."},
       Cause::launch,
       "copies back to the host"},
      {{"synchronous-call",
        "The host is in a CUDA call that waits for the GPU, or has returned without a launch."},
       Cause::launch,
       "calls that wait for the GPU"},
      {{"python-lock", "The thread that launches waited for Python's lock."},
       Cause::launch,
       "Python's lock"},
      {{"another-rank",
        "The GPU waits in a collective for another rank, which waits for its DataLoader."},
       Cause::opaque,
       "the DataLoader of another rank"},
      {{"file-read",
        "The thread that launches was in a call of the operating system that reads: read, recv."},
       Cause::launch,
       "reads of the training thread's own",
       true},
      {{"system-wait",
        "The launching thread waits in a system call for another thread or process. Examples are "
        "poll, sem_wait and pthread_cond_wait."},
       Cause::launch,
       "other threads or processes",
       true},
      {{"off-core",
        "The thread that launches was not on a core, and in no call of which anything is known."},
       Cause::launch,
       "a training thread that is not on a core",
       true},
      {{"late-launch",
        "The host has not launched the next work, or the GPU has not begun it. The cause is the "
        "host's own code or the calls."},
       Cause::launch,
       "launches"},
      {{"nothing-known", "The trace does not say what the host did."},
       Cause::other,
       "what the trace does not show"},
  };
  return table;
}

const GapFactRow& gap_row(GapFact fact) {
  static const GapFactRow table[kGapFacts] = {
      {"s", "in which the GPU did nothing for it, mean over ranks"},
      {"gaps", "gaps of which it took at least 1 % of a step"},
      {"steps", "of all ranks that lost at least 1 % of a step to it"},
      {"longest_s", "the most that it took of one of them"},
      {"at_s", "where that gap begins, on the clock of the trace's own viewer"},
      {"step", "in which that gap begins; -1: in none"},
  };
  return table[static_cast<std::size_t>(fact)];
}

std::string metric_name(GapKind kind, GapFact fact) {
  std::string name(gap_row(kind).row.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return fmt::format("gap.{}_{}", name, gap_row(fact).name);
}

}  // namespace loaderscope::traces
