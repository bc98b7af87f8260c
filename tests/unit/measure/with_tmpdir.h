// TMPDIR for one test.
#pragma once

#include <cstdlib>
#include <string>

namespace loaderscope {

class WithTmpdir {
 public:
  explicit WithTmpdir(const std::string& value) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", value.c_str(), 1);
  }
  ~WithTmpdir() {
    if (before_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", before_.c_str(), 1);
    }
  }
  WithTmpdir(const WithTmpdir&) = delete;
  WithTmpdir& operator=(const WithTmpdir&) = delete;

 private:
  std::string before_;
};

}  // namespace loaderscope
