// What a comparison says, in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

// "SLOWER: augment +11.8 % (+10.1 to +13.6) per sample: RandomErasing is new; ..."
std::string answer_line(const Comparison& comparison, const Judgement& judgement);

// "since v2.3 (3f2c1a9): cpu per sample +7.9 % (+7.0 to +8.8), limit 10 %"
std::string anchor_line(const Anchor& anchor);

std::string spoken(std::string_view name);  // "wait for decode" of wait-for-decode
std::string joined(const std::vector<std::string>& words);
std::string show_value(const Difference& one, double value);  // in its unit

}  // namespace loaderscope::compare
