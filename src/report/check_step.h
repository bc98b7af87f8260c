// Plausibility check for the steps of a saved result.
#pragma once

#include "loaderscope/run_record.h"
#include "report/json_cursor.h"

namespace loaderscope {

// Checks a row. `step` is the expected number, `idle_begin` the end of the step before it. Throws
// RunError through `json`.
void check_step(const JsonCursor& json, const StepRow& row, std::int64_t step, Nanos idle_begin);

// Completes what was read of an exemplar: `row` is its step's.
void place_exemplar(Exemplar& exemplar, const StepRow& row);

}  // namespace loaderscope
