// The steps of a traced process.
#pragma once

#include <vector>

#include "engine/import/host_view.h"

namespace loaderscope::traces {

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
TracedSteps steps_of(std::vector<StepMark> marks, const HostView& host, TimeRange extent);

}  // namespace loaderscope::traces
