// What a run was booked to so far, for who waits for it.
#pragma once

#include <string>
#include <vector>

#include "record/running_account.h"

namespace loaderscope {

// What stands below the line of progress, at most `width` columns each: how busy the device is,
// with a bar, how many batches are queued on average, and what it waits for, the longest first.
// None before a step was measured.
std::vector<std::string> live_lines(const RunningAccount& account, std::size_t width);

}  // namespace loaderscope
