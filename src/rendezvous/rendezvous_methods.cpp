#include "rendezvous/rendezvous_methods.h"

#include "rendezvous/mpi.h"
#include "rendezvous/mpi_library.h"

namespace loaderscope {
namespace {

constexpr RendezvousMethod kWays[] = {
    {{"env",
      "Use processes of torchrun, srun or mpirun, or started by hand. Process 0 is at MASTER_ADDR "
      "and MASTER_PORT."},
     [](const Variable& variable, Nanos) { return place_by_environment(variable); }},
    {{"mpi",
      "Processes of mpirun (Open MPI, MPICH and those like it): MPI says where process 0 is.",
      why_no_mpi},
     place_by_mpi,
     false},
    {{"off", "Each process is a job by itself."}, nullptr},
};

}  // namespace

std::span<const RendezvousMethod> ways_to_meet() { return kWays; }

std::string_view way_of_launcher(const Variable& variable) {
  // Only what the launcher's own children have: a script of sbatch has SLURM_NTASKS too.
  if (started_by(variable, "SLURM_STEP_NUM_TASKS") > 1) return "env";
  for (const MpiKind& kind : mpi_kinds())
    if (started_by(variable, kind.size_variable) > 1) return "mpi";
  return "off";
}

}  // namespace loaderscope
