// The Fix of a saved run as an edit of the program's source.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "report/loader_arguments.h"

namespace loaderscope {

// A value that is an expression, so that only its author can change it. Lines and columns count
// characters from 1.
struct HandEdit {
  std::string argument, now, then;
  std::int64_t line = 0, column = 0, end_line = 0, end_column = 0;
};

struct FixEdit {
  std::string verdict;  // line 1 of the answer
  std::string fix;      // words of the Fix; "": there is nothing to apply
  LoaderArguments arguments;
  std::string file;       // path; "" if unknown
  std::string shown;      // the same, relative to the current folder if it is below
  std::int64_t line = 0;  // line of the call; 0: unknown
  std::string command;    // command line of the program
  std::string python;     // interpreter that parsed the file; "": none was started
  std::string reason;     // reason why the file is not edited, after "FILE:LINE: "; "" if it is
  std::vector<HandEdit> hand;            // values to change by hand, if the reason is about them
  std::vector<std::string> hand_others;  // further changes, with `hand`: "shuffle=True"
  bool unchanged = false;                // the call has the arguments already
  std::string before, after;             // content of the file
  std::string diff;                      // unified, in the encoding of the file

  bool can_write() const { return !after.empty(); }
  std::string place() const;      // "train.py:32"
  std::string hand_text() const;  // change at `place` in words; "" if nothing is known
};

// Plans the edit for a result that a command was given. Changes no file. `python` is the
// interpreter that parses the source; "": the program's own for the last result of this user, else
// python3. Throws RunError for a result that cannot be read.
FixEdit plan_fix_edit(const std::string& result, const std::string& python);

// Writes the plan as JSON, without the content of the file.
void write_json(std::ostream& out, const FixEdit& edit);

// Replaces the file, as one step, if it still has the content that the plan read. Throws RunError.
void write_fix_edit(const FixEdit& edit);

}  // namespace loaderscope
