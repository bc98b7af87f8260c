// Processes that mpirun has started. They receive the address of process 0 through MPI.
#pragma once

#include <optional>
#include <string>

#include "rendezvous/process_address.h"

namespace loaderscope {

// Call before the first thread. Throws RunError: no mpirun has started this process, MPI does not
// start, it has one process where mpirun started more, or the processes have not come together
// after `wait`.
ProcessAddress place_by_mpi(const Variable& variable, Nanos wait);

// Returns why there is no MPI here, and what to do about it; nothing if there is one.
std::optional<std::string> why_no_mpi();

}  // namespace loaderscope
