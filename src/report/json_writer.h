// The result as JSON (schema loaderscope.run/1, reports/run.schema.json).
#pragma once

#include <ostream>

#include "loaderscope/report.h"

namespace loaderscope {

// `full`: what a later analysis needs; `answer`: without ranks, steps, reservoir and exemplars.
enum class JsonScope { full, answer };

void write_json(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                JsonScope scope);

class JsonStream;
void write_critical_path(JsonStream& json, const CriticalPath& path);
// The long arrays (src/report/json_rows.cpp).
void write_steps(JsonStream& json, const RunRecord& record);
void write_reservoir(JsonStream& json, const RunRecord& record);
void write_exemplars(JsonStream& json, const RunRecord& record);

}  // namespace loaderscope
