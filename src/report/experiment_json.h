// What the results of sweep and tune have in common.
#pragma once

#include "loaderscope/experiment.h"
#include "report/json_stream.h"
#include "report/json_tree.h"

namespace loaderscope {

void write_estimate(JsonStream& json, std::string_view key, const std::optional<Estimate>& value);
void write_texts(JsonStream& json, std::string_view key, const std::vector<std::string>& texts);
void write_base(JsonStream& json, const Experiment& experiment);  // base, axes
void write_settings(JsonStream& json, const Experiment& experiment, const Case& one);
void write_changes(JsonStream& json, const Case& one);
void write_runs(JsonStream& json, const Case& one);

// The runs of a case as they were saved. Throws RunError.
std::vector<CaseRun> read_runs(const JsonCursor& one);

// What of the base case or the axes differs from what was saved: "compute is 12ms there and 14ms
// here", or "".
std::string difference(const JsonCursor& saved, const Experiment& experiment);

}  // namespace loaderscope
