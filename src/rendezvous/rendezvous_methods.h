// How the processes of one job find each other.
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
  // Whether it leaves to a program what it brings along: MPI starts once in a process of mpirun.
  bool leaves_mpi_alone = true;
};
std::span<const RendezvousMethod> ways_to_meet();

// What the launcher of this process is likely meant for, where nobody says: the name of a way.
std::string_view way_of_launcher(const Variable& variable);

}  // namespace loaderscope
