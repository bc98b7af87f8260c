// Who kept our threads waiting for a core: our own other threads, or other programs.
#pragma once

#include <optional>
#include <string>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Of the cores, or of the CPU time that was spent: what other programs take is a fact to be told.
inline constexpr double kMuchOfOthers = 0.1;

// Share of the time that the CPU quota stopped the program's threads.
double stopped_by_quota(const RunRecord& record);
bool is_held_by_quota(const RunRecord& record);  // so long that others are not to blame

// The part of the contention that other programs caused, by the CPU time that they took beside this
// one. Nothing where that was not counted, or a quota held the threads back.
std::optional<double> contention_of_others(const RunRecord& record);

// Whether that is enough to say so.
bool others_matter(const RunRecord& record);

// "64.1 % of it because of other programs (make, ninja)"; "" where they do not matter.
std::string words_of_others(const RunRecord& record);

Nanos cpu_of_stages(const RunRecord& record);  // of all ranks

// CPU time that no stage of the loader spent, in units of the time in which training computed:
// about so many threads of each rank run then, and those that spin between are among them. 0 of a
// program that computes on a GPU, and where nobody counted.
double computing_threads(const RunRecord& record);

}  // namespace loaderscope
