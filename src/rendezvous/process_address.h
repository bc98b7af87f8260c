// The place of a process in its job, from the launcher's environment: its number, the addresses of
// process 0, and the token of the job.
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
  Secret token{};  // secret of all processes of the job; see job_token()
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

// Returns the addresses at which other processes can reach this host. They belong to its interfaces
// that are up. The loopback is last, because only processes of this host can reach it.
std::vector<std::string> own_addresses();

// Variable with the token that the processes of a job share, and that no one else knows.
inline constexpr const char* kTokenVariable = "LOADERSCOPE_TOKEN";

// Returns the text of kTokenVariable, else of the file "job-token" of `folder`, which is made with
// a random text if it is missing. Hosts that share the user's home folder need nothing more. Throws
// UsageError if the variable is too short to be a secret, or if there is neither; RunError if the
// file is not this user's alone.
Secret job_token(const Variable& variable, const std::string& folder);

}  // namespace loaderscope
