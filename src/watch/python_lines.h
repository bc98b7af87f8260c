// Where processes of others stand in Python, by reading their memory: nothing runs in them.
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

// By CPython's own unwinder where `process` runs 3.14 or newer, else by py-spy where it is
// installed.
PythonLook look_at_python(const std::filesystem::path& root, pid_t process);

// Of what either prints: a list of threads with their frames, the innermost first.
PythonLook parse_python_look(const std::string& text, pid_t process);

}  // namespace loaderscope::watch
