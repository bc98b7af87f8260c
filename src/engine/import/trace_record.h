// A trace as a record of engine `import`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/import/rank_waits.h"
#include "engine/import/traced_rank.h"
#include "engine/import/traced_run.h"
#include "loaderscope/run_record.h"

namespace loaderscope::traces {

// `batch_size`: samples per batch, which no trace contains; 0: not known.
RunRecord make_trace_record(TracedRun run, std::int64_t batch_size);

// A traced run after its ranks were walked, with its metrics and notes.

// A rank is a GPU that a process used; where no GPU was traced, a process.
struct Place {
  std::size_t process = 0;
  TracedGpu* gpu = nullptr;
};

struct WalkedRun {
  TracedRun run;
  std::vector<Place> places;
  RankWaits waits;
  std::vector<WalkedRank> ranks;

  bool has_gpu() const { return !run.gpus_used.empty(); }
};

std::vector<Metric> make_metrics(const WalkedRun& walked);
std::vector<std::string> make_notes(const WalkedRun& walked);

}  // namespace loaderscope::traces
