// Methods by which the processes of one job find each other.
#pragma once

#include <span>
#include <string_view>

#include "loaderscope/rows.h"
#include "rendezvous/process_address.h"

namespace loaderscope {

struct RendezvousMethod {
  Row row;
  // Null: each process is a job by itself. `wait`: for the others, where it meets them itself.
  ProcessAddress (*find)(const Variable& variable, Nanos wait);
  // False if the method starts MPI. MPI starts only once in a process of mpirun, so a program could
  // not start it again.
  bool leaves_mpi_alone = true;
};
std::span<const RendezvousMethod> ways_to_meet();

// Returns the likely method for this process's launcher, if the user names none.
std::string_view way_of_launcher(const Variable& variable);

}  // namespace loaderscope
