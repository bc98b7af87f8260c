#include "rendezvous/ways.h"

#include <charconv>
#include <cstring>

#include "rendezvous/mpi.h"
#include "rendezvous/mpi_library.h"

namespace loaderscope {
namespace {

constexpr WayToMeet kWays[] = {
    {{"env",
      "Processes of torchrun, srun or mpirun, or started by hand: process 0 is at MASTER_ADDR and "
      "MASTER_PORT."},
     [](const Variable& variable, Nanos) { return place_by_environment(variable); }},
    {{"mpi",
      "Processes of mpirun (Open MPI, MPICH and those like it): MPI says where process 0 is.",
      why_no_mpi},
     place_by_mpi,
     false},
    {{"off", "Each process is a job by itself."}, nullptr},
};

bool says_many(const Variable& variable, const char* name) {
  const char* const text = variable(name);
  int number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number > 1;
}

}  // namespace

std::span<const WayToMeet> ways_to_meet() { return kWays; }

std::string_view way_of_launcher(const Variable& variable) {
  // Only what the launcher's own children have: a script of sbatch has SLURM_NTASKS too.
  if (says_many(variable, "SLURM_STEP_NUM_TASKS")) return "env";
  for (const MpiKind& kind : mpi_kinds())
    if (says_many(variable, kind.size_variable)) return "mpi";
  return "off";
}

}  // namespace loaderscope
