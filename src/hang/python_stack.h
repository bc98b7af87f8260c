// The Python stack of a thread, as the interpreter writes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::hang {

struct PythonFrame {
  std::string file;
  int line = 0;
  std::string function;
};

struct PythonThread {
  std::vector<PythonFrame> frames;  // the innermost first, and none of our own

  // The innermost in the user's own files; null where none is.
  const PythonFrame* own() const;
  bool is_in(std::string_view part_of_file) const;
  bool is_within(std::string_view function) const;
};

// Parses the output of faulthandler for all threads of a process. The thread that was asked comes
// first.
std::vector<PythonThread> parse_dump(const std::string& text);

// "train.py:34 in __getitem__": below the current folder as it is called from there.
std::string spelled_place(const PythonFrame& frame);

}  // namespace loaderscope::hang
