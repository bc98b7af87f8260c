// Findings and what the model says, as lines for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Returns "Wrong data: NAME: EVIDENCE", each followed by a line with the fix.
std::vector<std::string> wrong_data_lines(const Analysis& analysis);

// Returns the fix, its gain and the cost of the waiting now: "Fix: num-workers=8 -> 25.0 % to 50.0
// % busy, 160 to 320 samples/s, an epoch 400.0 s to 200.0 s. 18.0 GPU-hours a day are lost now".
// Without a finding that saves time, returns only the loss, or "".
std::string fix_line(const RunRecord& record, const Analysis& analysis);
std::string cause_line(const Analysis& analysis);    // evidence of the fix
std::string pytorch_code(const Analysis& analysis);  // "DataLoader(..., num_workers=8)", or ""

// Return the other findings, one line each, and their names.
std::vector<const Finding*> further_findings(const Analysis& analysis);
std::vector<std::string> other_findings(const Analysis& analysis);
std::vector<std::string_view> other_finding_names(const Analysis& analysis);

// Returns the accuracy of predictions: the error on this run, and what the model leaves open.
std::string fit_line(const Analysis& analysis, bool full = true);

// Returns "Starved for ...": the part of the stall without variation, and the prefetch depth that
// absorbs the other part.
std::string starved_line(const Analysis& analysis, const RunConfig& config);

// Returns "it takes, for 95 % busy: num-workers=12; or decode 4.8 x as fast"; "" without a stall.
// In full, also lists options that are not sufficient alone, and says if no option is.
std::string what_it_takes_line(const Analysis& analysis, bool full = true);

// Returns the cost of delivery in order.
std::string order_line(const Analysis& analysis, const RunConfig& config);

}  // namespace loaderscope
