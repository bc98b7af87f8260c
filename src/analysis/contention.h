// Sources of contention: our own threads, or other programs.
#pragma once

#include <optional>
#include <string>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Share of the cores, or of the CPU time spent, at which other programs are reported.
inline constexpr double kMuchOfOthers = 0.1;

// Returns the share of the time that the CPU quota stopped the program's threads.
double stopped_by_quota(const RunRecord& record);
bool is_held_by_quota(const RunRecord& record);  // true if others are not to blame

// Returns the share of the contention that other programs caused, by their CPU time. Empty if their
// CPU time is unknown or a quota stopped the threads.
std::optional<double> contention_of_others(const RunRecord& record);

// Returns true if other programs caused enough contention to report it.
bool others_matter(const RunRecord& record);

// Returns "64.1 % of it because of other programs (make, ninja)"; "" if they do not matter.
std::string describe_others(const RunRecord& record);

Nanos cpu_of_stages(const RunRecord& record);  // all ranks

// Returns the CPU time outside the loader's stages, in units of the time in which training
// computed. It is about the number of threads that each rank runs then, including spinning threads.
// Returns 0 if the program computes on a GPU, and if the CPU time is unknown.
double computing_threads(const RunRecord& record);

}  // namespace loaderscope
