// What a tune says, for people and as JSON.
#pragma once

#include <ostream>

#include "experiment/tune.h"
#include "loaderscope/report.h"

namespace loaderscope {

void write_tune_table(std::ostream& out, const Tune& tune, const ReportStyle& style);
void write_tune_json(std::ostream& out, const Tune& tune,
                     std::string_view tool_version);  // schema loaderscope.tune/1

// The recommended settings as PyTorch and DALI write them.
std::string data_loader_call(const RunConfig& config);
std::string dali_arguments(const RunConfig& config);

}  // namespace loaderscope
