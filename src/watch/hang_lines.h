// Describes a hang of a watched job: the process that waits, and the process that it waits for.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hang/python_stack.h"
#include "watch/job_sampler.h"

namespace loaderscope::watch {

// Python stacks of other processes, read from their memory. No code runs in those processes.
struct PythonLook {
  std::vector<hang::PythonThread> threads;  // the main thread first
  std::string why_not;                      // there are none
};

// Uses CPython's own unwinder if `process` runs 3.14 or newer, else py-spy if it is installed.
PythonLook look_at_python(const std::filesystem::path& root, pid_t process);

// Parses the output of either tool: a list of threads with their frames, the innermost first.
PythonLook parse_python_look(const std::string& text, pid_t process);

// One entry per process.
using PythonLooks = std::map<pid_t, PythonLook>;

// Returns the answer first, then the states of the other processes, and the cause if it is known.
std::vector<std::string> hang_lines(const std::filesystem::path& root, const JobSampler& sampler,
                                    const PythonLooks& python);

}  // namespace loaderscope::watch
