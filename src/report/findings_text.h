// Findings and what the model says, as lines for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// "Wrong data: NAME: EVIDENCE", each followed by "Mend: ...".
std::vector<std::string> wrong_data_lines(const Analysis& analysis);

// What to do, what it gives and what the waiting costs now: "Fix: num-workers=8 -> 25.0 % to
// 50.0 % busy, 160 to 320 samples/s, an epoch 400.0 s to 200.0 s. Waste now: 18.0 GPU-h/day".
// Without a finding that saves time only what is wasted, or "".
std::string fix_line(const RunRecord& record, const Analysis& analysis);
std::string cause_line(const Analysis& analysis);  // what the fix rests on
// What a run does not show: it was too short for it, or there are no findings for another reason.
std::string unseen_line(const std::string& note);
std::string pytorch_code(const Analysis& analysis);  // "DataLoader(..., num_workers=8)", or ""

// The further findings; likewise a line each, and their names.
std::vector<const Finding*> further_findings(const Analysis& analysis);
std::vector<std::string> other_findings(const Analysis& analysis);
std::vector<std::string_view> other_finding_names(const Analysis& analysis);

// How far to trust what is predicted: the error on this run, and what the model leaves open.
std::string fit_line(const Analysis& analysis, bool in_full = true);

// "starved: ...": what is left of the stall without any spread, and how far ahead batches must be
// made to ride it out.
std::string starved_line(const Analysis& analysis, const RunConfig& config);

// "it takes, for 95 % busy: num-workers=12; or decode 4.8 x as fast"; "" where the stall is none.
// In full also what alone is never enough, and where nothing alone is.
std::string what_it_takes_line(const Analysis& analysis, bool in_full = true);

// What delivery in order costs.
std::string order_line(const Analysis& analysis, const RunConfig& config);

}  // namespace loaderscope
