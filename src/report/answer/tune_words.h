// A tune in the words of a default answer.
#pragma once

#include <cstddef>
#include <string>

#include "experiment/case_statistics.h"
#include "experiment/tune.h"

namespace loaderscope {

// All of a tune that recommends a setting.

// "GPU ", or "" if the training has none that is seen.
std::string tuned_device(const Tune& tune);
bool is_tune_proven(const Tune& tune);
// The present setting costs no more than the recommended one, and is about as fast.
bool is_present_good_enough(const Tune& tune, const CaseStatistics& judgement);

// "Use num_workers=8: 800 samples/s, GPU 100 % busy (now 222 samples/s, 28 %)"
std::string tune_headline(const Tune& tune, const CaseStatistics& judgement);
// "DataLoader(..., num_workers=8, prefetch_factor=1)": what does not vary is left out.
std::string call_of_tune(const Tune& tune);
// "with it the GPU is the limit". Empty if that is not known.
std::string describe_tuned_limit(const Tune& tune);
// "the fastest, num_workers=16, gives 2 % more"
std::string describe_best(const Tune& tune, const CaseStatistics& judgement, std::size_t than);
// Returns the command that would prove it: "--budget 4m (would measure num_workers=16)".
std::string next_of_tune(const Tune& tune);

}  // namespace loaderscope
