// A comparison in the words and the precision of a default answer.
#pragma once

#include <string>

#include "experiment/compare/compare.h"
#include "experiment/compare/gate.h"

namespace loaderscope::compare {

// "-13 %" of a ratio, "+5 points" of a share.
std::string short_change(const Difference& one);
// "0.3 %", "2 %", "60 %": the smallest change that can be seen.
std::string least_change(double share);
// "CPU per sample", "waiting for decode", "samples/s"
std::string name_for_people(const Difference& one);
// "249", "3 ms", "1.2 GB"
std::string plain_value(const Difference& one, double value);

// The first difference that has the verdict, apart from memory. Null if no difference has it.
const Difference* first_of_verdict(const ComparisonResult& judgement);
// "bytes read 4 -> 5 per sample": the first count that changed, or "".
std::string describe_counts(const ComparisonResult& judgement);

// "Faster: 192 -> 268 samples/s (+40 %); the wait for decode fell from 35 % to 9 %"
std::string headline_of_results(const Comparison& comparison, const ComparisonResult& judgement,
                                bool is_accepted);

// Line 1 of any comparison: "SLOWER: B gives 216 samples/s, A gave 249 (-13 %): decode takes 20 %
// longer"
std::string compare_headline(const Comparison& comparison, const ComparisonResult& judgement,
                             const GateAnswer& gate);

}  // namespace loaderscope::compare
