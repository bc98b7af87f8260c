// One rank of a trace, walked: what its steps waited for.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/import/rank_views.h"
#include "engine/import/rank_waits.h"

namespace loaderscope::traces {

// The steps of a traced process.
struct TracedStep {
  TimeRange at;
  std::int64_t number = 0;  // number that the marker gave; otherwise counted from 0
};

enum class StepBasis : std::uint8_t { marks, loader, none };

struct TracedSteps {
  StepBasis basis = StepBasis::none;
  std::vector<TracedStep> list;  // each begins where the one before it ends

  Nanos median() const;
  const TracedStep* at(Nanos time) const;  // null: in none
};

// Uses marks, or else the requests for batches. Without both, `extent` is one step.
TracedSteps find_steps(std::vector<StepMark> marks, const HostView& host, TimeRange extent);

// One kind of gap over the window of a rank.
struct GapTotal {
  Nanos time = 0;
  std::int64_t gaps = 0, steps = 0;  // noticeable gaps only: at least 1 % of a step
  Nanos longest = 0, longest_at = 0;
  std::int64_t longest_step = -1;
};

struct WalkedStep {
  TracedStep step;
  GapParts parts;
};

struct WalkedRank {
  TracedSteps steps;
  std::vector<WalkedStep> walked;
  std::array<GapTotal, kGapKinds> gaps;
  Nanos noticeable = 0;
  Nanos kernels = 0, only_collective = 0;  // ns in the window
  Nanos loader_waits = 0;                  // ns of the host, also while the GPU works
  std::int64_t loader_calls = 0;
  bool has_loader = false;  // waits for one were recorded
};

// `gpu`: null where the trace has none. `extent`: of all that is known of the rank.
WalkedRank walk(const HostView& host, const std::vector<StepMark>& marks, const GpuView* gpu,
                const TimeRanges& another_ranks_loader, TimeRange extent);

}  // namespace loaderscope::traces
