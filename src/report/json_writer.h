// The result of a run as JSON (schema loaderscope.run/1, reports/run.schema.json).
#pragma once

#include <ostream>

#include "report/describe.h"

namespace loaderscope {

void write_json(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                JsonScope scope);

}  // namespace loaderscope
