// The answer that a trace gives, as a command shows it.
#pragma once

#include "engine/import/import_engine.h"
#include "loaderscope/analysis.h"

namespace loaderscope {

struct TraceAnswer {
  RunRecord record;
  Analysis analysis;
};

TraceAnswer answer_of_traces(const traces::TraceOptions& options);  // throws RunError

}  // namespace loaderscope
