// Where a process stands in its job, as the launcher's environment says.
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
  std::vector<std::string> addresses;  // of process 0, in the order to try them in
  std::uint16_t port = 0;
  std::string job;  // names it among others on the same port
  // At process 0, where it listens already; none: at `addresses`.
  std::vector<Fd> listeners{};
  Secret token{};  // that all processes of the job know; see job_token.h
};

// For processes of a job to come, where nothing else is asked for.
constexpr Nanos kUsualWait = 60 * kSecond;

// Null where it is not set.
using Variable = std::function<const char*(const char* name)>;

// How many a launcher says in it that it has started; 0: it does not say.
std::int64_t started_by(const Variable& variable, const char* name);

// Of torchrun, of Slurm or of Open MPI. Throws UsageError that names what is missing or wrong.
ProcessAddress place_by_environment(const Variable& variable);

}  // namespace loaderscope
