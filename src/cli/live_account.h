// The account of a run so far, for the user who waits for it.
#pragma once

#include <string>
#include <vector>

#include "record/running_account.h"

namespace loaderscope {

// Returns the lines below the progress line, at most `width` columns each. They show how busy the
// device is, with a bar, the mean number of queued batches, and the causes of the wait, the longest
// first. Empty before the first measured step.
std::vector<std::string> live_lines(const RunningAccount& account, std::size_t width);

}  // namespace loaderscope
