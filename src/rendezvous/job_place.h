// Where a process stands in its job, as the launcher's environment says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace loaderscope {

struct JobPlace {
  std::int64_t number = 0, processes = 1;
  std::string address;  // of process 0
  std::uint16_t port = 0;
  std::string job;  // names it among others on the same port
};

// Null where it is not set.
using Variable = std::function<const char*(const char* name)>;

// Of torchrun, of Slurm or of Open MPI. Throws UsageError that names what is missing or wrong.
JobPlace place_in_job(const Variable& variable);

}  // namespace loaderscope
