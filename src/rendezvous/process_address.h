// The place of a process in its job, from the launcher's environment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/secret.h"
#include "loaderscope/units.h"

namespace loaderscope {

struct ProcessAddress {
  std::int64_t number = 0, processes = 1;
  std::vector<std::string> addresses;  // addresses of process 0, in the order of attempts
  std::uint16_t port = 0;
  std::string job;  // names it among others on the same port
  // At process 0, where it listens already; none: at `addresses`.
  std::vector<Fd> listeners{};
  Secret token{};  // secret of all processes of the job; see job_token.h
};

// For processes of a job to come, where nothing else is asked for.
constexpr Nanos kUsualWait = 60 * kSecond;

// Null where it is not set.
using Variable = std::function<const char*(const char* name)>;

// Returns the number of processes that a launcher has started, according to `name`; 0: not known.
std::int64_t started_by(const Variable& variable, const char* name);

// Reads the environment of torchrun, Slurm or Open MPI. Throws UsageError that names a missing or
// wrong variable.
ProcessAddress place_by_environment(const Variable& variable);

}  // namespace loaderscope
