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

  // The spans of one worker on one batch. What a stage did for one sample, in however many pieces,
  // is one execution of it.
  void add_spans(const std::vector<Span>& part);
  // Adds the facts of the batch as a whole.
  void add_step(const StepEvents& events);
};

}  // namespace loaderscope
