// Python stacks of other processes, read from their memory. No code runs in those processes.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hang/python_stack.h"

namespace loaderscope::watch {

struct PythonLook {
  std::vector<hang::PythonThread> threads;  // the main thread first
  std::string why_not;                      // there are none
};

// Uses CPython's own unwinder if `process` runs 3.14 or newer, else py-spy if it is installed.
PythonLook look_at_python(const std::filesystem::path& root, pid_t process);

// Parses the output of either tool: a list of threads with their frames, the innermost first.
PythonLook parse_python_look(const std::string& text, pid_t process);

}  // namespace loaderscope::watch
