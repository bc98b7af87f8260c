// Output of a measured program, and the warning that no loader was seen in it.
#pragma once

#include <string>

#include "loaderscope/run_config.h"
#include "loaderscope/units.h"

namespace loaderscope::guest {

// Sends the output to standard error immediately, or keeps it in memory, so that its end can be
// shown if the program fails.
class ProgramOutput {
 public:
  // `text` receives the end of the output. Null sends it to standard error. It outlives this.
  explicit ProgramOutput(std::string* text);
  ~ProgramOutput();
  ProgramOutput(const ProgramOutput&) = delete;
  ProgramOutput& operator=(const ProgramOutput&) = delete;

  int descriptor() const { return descriptor_; }
  // Prints a line of loaderscope to the same place.
  void say(const std::string& sentence) const;

 private:
  std::string* text_;
  int descriptor_;
};

// Schedule of the warning that no loader was seen. A program may take long before its training
// begins, so it keeps running. The warning repeats at growing intervals.
class NoLoaderWarning {
 public:
  // `config` outlives this.
  explicit NoLoaderWarning(const RunConfig& config);

  // Call often while no batch has been requested. `since` is the start of the program. Returns true
  // if the warning is due.
  bool is_due(Nanos since);
  // Returns a sentence about `program`. `pythons` is the number of Python programs started in it so
  // far. `why` is the reason why a seen loader is not measured, or "".
  std::string sentence(const std::string& program, Nanos since, int pythons,
                       const std::string& why) const;

 private:
  const RunConfig& config_;
  Nanos next_;
};

}  // namespace loaderscope::guest
