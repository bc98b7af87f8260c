// A watched job that does not go on: who waits for whom, in the words of a loader that hangs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "watch/job_sampler.h"
#include "watch/python_lines.h"

namespace loaderscope::watch {

// By process.
using PythonLooks = std::map<pid_t, PythonLook>;

// The answer first, then where the others stand, and the cause where it is known.
std::vector<std::string> hang_lines(const std::filesystem::path& root, const JobSampler& sampler,
                                    const PythonLooks& python);

}  // namespace loaderscope::watch
