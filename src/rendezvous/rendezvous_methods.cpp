#include "rendezvous/rendezvous_methods.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <sstream>
#include <string>

#include "base/secret.h"
#include "loaderscope/errors.h"
#include "rendezvous/connection.h"
#include "rendezvous/mpi.h"

namespace loaderscope {
namespace {

constexpr std::string_view kInstall =
    "no MPI library (libmpi.so.40 of Open MPI, libmpi.so.12 or libmpich.so.12 of MPICH) is found; "
    "install one (Debian: openmpi-bin) or use --rendezvous env.";

// Trusts the launcher. Processes on one host need no network address.
bool is_on_one_host(const Variable& variable, std::int64_t processes) {
  return started_by(variable, "OMPI_COMM_WORLD_LOCAL_SIZE") == processes ||
         started_by(variable, "MPI_LOCALNRANKS") == processes;
}

// A line of the job's name, its token, the port and the addresses.
MpiAddress pack_address(const ProcessAddress& place) {
  MpiAddress message;
  std::string text = fmt::format("{} {} {}", place.job, place.token.exposed(), place.port);
  for (const std::string& address : place.addresses) {
    if (text.size() + 1 + address.size() < sizeof message.text) text += " " + address;
  }
  std::memcpy(message.text, text.data(), text.size());
  return message;
}

void unpack_address(MpiAddress& message, ProcessAddress& place) {
  message.text[sizeof message.text - 1] = '\0';
  std::istringstream words(message.text);
  std::string token;
  words >> place.job >> token >> place.port;
  place.token = Secret(token);
  place.addresses.clear();
  for (std::string address; words >> address;) place.addresses.push_back(address);
}

void check_launcher(const Variable& variable) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE", "PMI_RANK"})
    if (variable(name) != nullptr) return;
  throw RunError("--rendezvous mpi: no mpirun has started this process",
                 "start it so (mpirun -n 2 loaderscope run ...), or use --rendezvous env");
}

// mpirun's processes are each alone where the library is not of its kind.
void check_size(const Variable& variable, int processes) {
  if (processes > 1) return;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const std::int64_t started = started_by(variable, name);
    if (started > 1)
      throw RunError(
          fmt::format("--rendezvous mpi: MPI knows one process, and {} were started ({})", started,
                      name),
          "load the launcher's own MPI library, or use --rendezvous env");
  }
}

// Returns why there is no MPI here, and what to do about it; nothing if there is one.
std::optional<std::string> why_no_mpi() {
  for (const MpiKind& kind : mpi_kinds())
    if (is_there(kind)) return std::nullopt;
  return std::string(kInstall);
}

// Call before the first thread. Throws RunError: no mpirun has started this process, MPI does not
// start, it has one process where mpirun started more, or the processes have not come together
// after `wait`.
ProcessAddress place_by_mpi(const Variable& variable, Nanos wait) {
  check_launcher(variable);
  MpiChild child(variable, wait);
  const MpiStatus standing = child.standing();
  check_size(variable, standing.processes);
  ProcessAddress place;
  place.number = standing.number;
  place.processes = standing.processes;
  if (place.number == 0) {
    place.job = "mpi-" + hex_text(random_bytes(8));
    place.token = Secret(hex_text(random_bytes(32)));
    if (is_on_one_host(variable, standing.processes)) {
      place.addresses = {"127.0.0.1"};
      place.listeners = listen_at(place.addresses, 0);
    } else {
      place.addresses = own_addresses();
      place.listeners.push_back(listen_everywhere(0));
    }
    place.port = listening_port(place.listeners.front());
    child.send_address(pack_address(place));
  }
  MpiAddress message = child.receive_address();
  unpack_address(message, place);
  child.await_end();
  return place;
}

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
