// Where a measured program prints: to standard error as it goes, or into memory, for its end to be
// shown should it fail.
#pragma once

#include <string>

namespace loaderscope::guest {

class ProgramOutput {
 public:
  // `text`: receives the end of what was printed; null: it goes to standard error. It outlives
  // this.
  explicit ProgramOutput(std::string* text);
  ~ProgramOutput();
  ProgramOutput(const ProgramOutput&) = delete;
  ProgramOutput& operator=(const ProgramOutput&) = delete;

  int descriptor() const { return descriptor_; }
  // A line of ours, there too: it is about the program while it runs.
  void say(const std::string& sentence) const;

 private:
  std::string* text_;
  int descriptor_;
};

}  // namespace loaderscope::guest
