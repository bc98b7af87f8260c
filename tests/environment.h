// An environment variable of a test.
#pragma once

#include <cstdlib>
#include <string>

namespace loaderscope {

// While it lives, the variable has another value.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    const char* before = std::getenv(name);
    was_set_ = before != nullptr;
    if (was_set_) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (was_set_) {
      ::setenv(name_.c_str(), before_.c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_, before_;
  bool was_set_;
};

}  // namespace loaderscope
