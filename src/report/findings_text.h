// The findings in sentences.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// "Fix: num-workers=8 -> busy 61.4 % to 97.0 %, 8,780 to 13,860 samples/s; too-few-workers: ..." of
// the finding that gives back most; "" without one.
std::string fix_line(const Analysis& analysis);
// The advice for its program.
std::string pytorch_line(const Analysis& analysis);
// The others, one each.
std::vector<std::string> other_findings(const Analysis& analysis);
// How far the predictions are to be trusted; "" without one.
std::string fit_line(const Analysis& analysis);

}  // namespace loaderscope
