// Totals of all stages over the steps of a window or of its warm-up.
#pragma once

#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

struct StageTotals {
  PerStage<StageStats> stages;
  std::int64_t samples = 0;
  Bytes read_bytes = 0, delivered_bytes = 0;
  WorkCounts work;

  // Adds the spans of one worker on one batch. All pieces of a stage for one sample count as one
  // execution.
  void add_spans(const std::vector<Span>& part);
  // Adds the facts of the batch as a whole.
  void add_step(const StepEvents& events);
};

}  // namespace loaderscope
