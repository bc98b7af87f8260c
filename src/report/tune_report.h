// What a tune says, for people and as JSON.
#pragma once

#include <ostream>

#include "experiment/tune.h"
#include "loaderscope/report.h"
#include "report/form.h"

namespace loaderscope {

void write_tune_table(std::ostream& out, const Tune& tune, const ReportStyle& style);
void write_tune_json(std::ostream& out, const Tune& tune, std::string_view tool_version);
void describe_tune(Form& form, Tune& tune);

// The recommended settings as PyTorch and DALI write them.
std::string data_loader_call(const RunConfig& config);
std::string dali_arguments(const RunConfig& config);

}  // namespace loaderscope
