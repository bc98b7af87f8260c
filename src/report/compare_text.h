// What a comparison says, in words.
#pragma once

#include <string>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

// "SLOWER: augment +11.8 % (+10.1 to +13.6) per sample: RandomErasing is new; ..."
std::string answer_line(const Comparison& comparison, const Judgement& judgement);

}  // namespace loaderscope::compare
