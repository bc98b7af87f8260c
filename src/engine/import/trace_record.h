// A trace as a record of engine `import`.
#pragma once

#include <cstdint>

#include "engine/import/traced_run.h"
#include "loaderscope/run_record.h"

namespace loaderscope::traces {

// `batch_size`: samples per batch, which no trace contains; 0: not known.
RunRecord record_of(TracedRun run, std::int64_t batch_size);

}  // namespace loaderscope::traces
