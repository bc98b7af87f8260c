// An accepted process describes itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loaderscope {

// The CPUs that a process may use.
struct UsableCpus {
  std::string list;     // "0-3,8"; "": not known
  double quota = 0;     // cores; 0: none
  std::string group{};  // control group with the quota, on that kernel; "": not known
};

struct HelloMessage {
  std::string version, host, settings;
  std::int64_t ranks = 1;  // ranks of this process
  std::string boot{};      // boot id of its kernel; "": not known
  UsableCpus cpus{};       // CPUs of its workers
};

std::string spelled(const HelloMessage& introduction);
// Accepts any text. A number that is missing is -1.
HelloMessage parse_introduction(std::string_view text);

// Returns why two processes cannot work together; "": they can. `who`: "process 3 on HOST".
std::string difference_of(const std::string& who, const HelloMessage& of,
                          const HelloMessage& first);

}  // namespace loaderscope
