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
  std::string group{};  // of the control group that has it, on that kernel; "": not known
};

struct HelloMessage {
  std::string version, host, settings;
  std::int64_t ranks = 1;  // of it
  std::string boot{};      // of the kernel that it runs on; "": not known
  UsableCpus cpus{};       // of its workers
};

std::string spelled(const HelloMessage& introduction);
// Whatever the text. A number that is missing is -1.
HelloMessage parse_introduction(std::string_view text);

// Why two processes cannot work together; "": they can. `who`: "process 3 on HOST".
std::string difference_of(const std::string& who, const HelloMessage& of,
                          const HelloMessage& first);

}  // namespace loaderscope
