// What the parts of a tune's answer share.
#pragma once

#include <string>
#include <vector>

#include "experiment/case_statistics.h"
#include "experiment/tune.h"
#include "report/text_report.h"

namespace loaderscope {

std::string computing(const Tune& tune);  // what computes: "the GPU"

// Cases that ran, the cheapest first.
std::vector<std::size_t> measured_by_price(const Tune& tune, const CaseStatistics& judgement);
void add_cases(TextReportBuilder& screen, const Tune& tune,
               const CaseStatistics& judgement);  // as a table

// Cheaper ones that may do as well, which more runs would tell. "": there are none.
std::string open_line(const Tune& tune, const CaseStatistics& judgement);
// What the model says of those that did not run. "": nothing.
std::string not_run_line(const Tune& tune);
// Those that cannot run, and why.
std::vector<std::string> refused_lines(const Tune& tune);

}  // namespace loaderscope
