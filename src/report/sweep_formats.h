// Text about the data sets that a sweep compares.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/experiment.h"
#include "report/text_report.h"

namespace loaderscope {

// "Repack as tar:...: cold 632 -> 1,733 samples/s"; "" where no data sets were compared.
std::string format_answer(const Experiment& experiment, const SweepAnswer& answer);
// Adds the reason, the cost of repacking, and a row for each case with its read method.
void add_formats(TextReportBuilder& screen, const Experiment& experiment,
                 const SweepAnswer& answer);

}  // namespace loaderscope
