// Causes in everyday words, for line 1 of an answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/analysis.h"

namespace loaderscope {

// "decoding images is too slow", "its transforms are too slow".
std::string cause_phrase(Cause cause, const RunRecord& record, const Account& account);
// The work of a cause as a noun: "decoding".
std::string_view cause_noun(Cause cause);

// Line 1 names the finding itself if that says more than its cause: "it makes every batch itself".
// Empty if it does not.
std::string_view finding_phrase(std::string_view finding, const RunRecord& record);

// Replaces the long phrases of line 1 by short ones: "pinning batches is too slow".
void shorten_phrase(std::string& headline);

// The stage that a finding such as decode-bound is about. Empty for other findings.
std::optional<Cause> cause_of_finding(std::string_view finding);

// "GPU", "GPUs" or "Training": who waits.
std::string who_waits(const RunRecord& record);

// "images", "video", "tokens", "rows" or "samples".
std::string_view kind_of_samples(const RunRecord& record);

}  // namespace loaderscope
