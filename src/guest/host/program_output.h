// Output of a measured program. It goes to standard error immediately, or into memory, so that its
// end can be shown if the program fails.
#pragma once

#include <string>

namespace loaderscope::guest {

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

}  // namespace loaderscope::guest
