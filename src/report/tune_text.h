// Parts that the answers of tune share.
#pragma once

#include <string>
#include <vector>

#include "experiment/case_statistics.h"
#include "experiment/tune.h"
#include "report/text_report.h"

namespace loaderscope {

std::string computing(const Tune& tune);  // name of the computing device: "the GPU"

// Cases that ran, the cheapest first.
std::vector<std::size_t> measured_by_price(const Tune& tune, const CaseStatistics& judgement);
void add_cases(TextReportBuilder& screen, const Tune& tune,
               const CaseStatistics& judgement);  // adds the table of cases

// Returns cheaper cases that may be sufficient, but need more runs; "" if there are none.
std::string open_line(const Tune& tune, const CaseStatistics& judgement);
// Returns the predictions for cases that did not run; "" if there are none.
std::string not_run_line(const Tune& tune);
// Returns the cases that cannot run, with the reasons.
std::vector<std::string> refused_lines(const Tune& tune);

}  // namespace loaderscope
