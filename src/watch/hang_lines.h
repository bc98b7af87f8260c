// Describes a hang of a watched job: the process that waits, and the process that it waits for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "watch/job_sampler.h"
#include "watch/python_lines.h"

namespace loaderscope::watch {

// One entry per process.
using PythonLooks = std::map<pid_t, PythonLook>;

// Returns the answer first, then the states of the other processes, and the cause if it is known.
std::vector<std::string> hang_lines(const std::filesystem::path& root, const JobSampler& sampler,
                                    const PythonLooks& python);

}  // namespace loaderscope::watch
