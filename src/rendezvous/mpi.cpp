#include "rendezvous/mpi.h"

#include <fmt/format.h>

#include <cstring>
#include <sstream>
#include <string_view>

#include "base/secret.h"
#include "loaderscope/errors.h"
#include "rendezvous/connection.h"
#include "rendezvous/local_addresses.h"
#include "rendezvous/mpi_child.h"
#include "rendezvous/mpi_library.h"

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
MpiAddress told_of(const ProcessAddress& place) {
  MpiAddress told;
  std::string text = fmt::format("{} {} {}", place.job, place.token.exposed(), place.port);
  for (const std::string& address : place.addresses) {
    if (text.size() + 1 + address.size() < sizeof told.text) text += " " + address;
  }
  std::memcpy(told.text, text.data(), text.size());
  return told;
}

void take_told(MpiAddress& told, ProcessAddress& place) {
  told.text[sizeof told.text - 1] = '\0';
  std::istringstream words(told.text);
  std::string token;
  words >> place.job >> token >> place.port;
  place.token = Secret(token);
  place.addresses.clear();
  for (std::string address; words >> address;) place.addresses.push_back(address);
}

void check_launcher(const Variable& variable) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE", "PMI_RANK"})
    if (variable(name) != nullptr) return;
  throw RunError(
      "--rendezvous mpi: no mpirun has started this process; start it so (mpirun -n 2 loaderscope "
      "run ...), or use --rendezvous env");
}

// mpirun's processes are each alone where the library is not of its kind.
void check_size(const Variable& variable, int processes) {
  if (processes > 1) return;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const std::int64_t started = started_by(variable, name);
    if (started > 1)
      throw RunError(fmt::format(
          "--rendezvous mpi: MPI knows one process, and {} were started ({}); the library is not "
          "of the launcher's kind: load the launcher's own, or use --rendezvous env",
          started, name));
  }
}

}  // namespace

std::optional<std::string> why_no_mpi() {
  for (const MpiKind& kind : mpi_kinds())
    if (is_there(kind)) return std::nullopt;
  return std::string(kInstall);
}

ProcessAddress place_by_mpi(const Variable& variable, Nanos wait) {
  check_launcher(variable);
  MpiChild child(variable, wait);
  const MpiStatus standing = child.standing();
  check_size(variable, standing.processes);
  ProcessAddress place;
  place.number = standing.number;
  place.processes = standing.processes;
  if (place.number == 0) {
    place.job = "mpi-" + hex_of(random_bytes(8));
    place.token = Secret(hex_of(random_bytes(32)));
    if (is_on_one_host(variable, standing.processes)) {
      place.addresses = {"127.0.0.1"};
      place.listeners = listen_at(place.addresses, 0);
    } else {
      place.addresses = own_addresses();
      place.listeners.push_back(listen_everywhere(0));
    }
    place.port = port_of(place.listeners.front());
    child.tell(told_of(place));
  }
  MpiAddress told = child.told();
  take_told(told, place);
  child.await_end();
  return place;
}

}  // namespace loaderscope
