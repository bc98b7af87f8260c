// The words of a Fix: something to paste, or a line to open.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/analysis.h"
#include "report/answer/answer.h"

namespace loaderscope {

// "Fix:   DataLoader(..., num_workers=2)           909 -> about 1,250 samples/s"
AnswerLine make_fix_line(const RunRecord& record, const Analysis& analysis, const Finding& fix);

// The finding that line 1 describes. "" if line 1 describes a cause.
std::string_view named_finding(const RunRecord& record, const Finding* fix);
// The cause that line 1 names. Empty if it describes a finding or several causes.
std::optional<Cause> named_cause(const RunRecord& record, const Analysis& analysis,
                                 const Finding* fix);

// The sentence after "Why:". `named` is the cause that line 1 names. Empty if nothing short is
// known.
std::string reason_text(const Analysis& analysis, const Finding& fix, std::optional<Cause> named);

// Returns true if the model predicted the gain of the finding.
bool is_gain_known(const Analysis& analysis, const Finding& finding);

// "909 -> about 1,250 samples/s". Empty if the gain is not known.
std::string gain_figures(const Analysis& analysis, const Finding& finding);

// The second-best thing to do, in words. Empty if nothing else is worth doing.
std::string second_best_text(const RunRecord& record, const Analysis& analysis, const Finding* fix);

// Advice in at most one sentence: the first alternative.
std::string short_advice(const std::string& advice);

}  // namespace loaderscope
