#include "rendezvous/mpi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <sstream>

#include "base/process_end.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "rendezvous/connection.h"
#include "rendezvous/mpi_library.h"
#include "rendezvous/own_addresses.h"

namespace loaderscope {
namespace {

constexpr std::string_view kInstall =
    "no MPI library (libmpi.so.40 of Open MPI, libmpi.so.12 or libmpich.so.12 of MPICH) is found; "
    "install one (Debian: openmpi-bin) or use --rendezvous env.";

// What goes between this process and its child, and from process 0 to all.
struct Standing {
  int number = 0, processes = 0;
};
struct Told {
  char text[4096] = {};
};

// In the child: whole, or it ends.
template <class Part>
void write_all(int socket, const Part& part) {
  if (::send(socket, &part, sizeof part, MSG_NOSIGNAL) != sizeof part) ::_exit(1);
}
template <class Part>
Part read_all(int socket) {
  Part part;
  if (::recv(socket, &part, sizeof part, MSG_WAITALL) != sizeof part) ::_exit(1);
  return part;
}

void take_part(const std::monostate&, int) { ::_exit(1); }

template <class Handle>
void take_part(const MpiCalls<Handle>& mpi, int socket) {
  Standing own;
  if (mpi.start(nullptr, nullptr) != 0 || mpi.number(mpi.world, &own.number) != 0 ||
      mpi.processes(mpi.world, &own.processes) != 0)
    ::_exit(1);
  write_all(socket, own);
  Told told;
  if (own.number == 0) told = read_all<Told>(socket);
  if (mpi.broadcast(told.text, sizeof told.text, mpi.byte, 0, mpi.world) != 0) ::_exit(1);
  write_all(socket, told);
  mpi.end();
  ::_exit(0);
}

// A kind of library; that of the mpirun which started this process comes first.
std::vector<const MpiKind*> kinds_to_try(const Variable& variable) {
  std::vector<const MpiKind*> kinds;
  for (const MpiKind& kind : mpi_kinds()) {
    const bool is_launchers = variable(kind.size_variable) != nullptr;
    kinds.insert(is_launchers ? kinds.begin() : kinds.end(), &kind);
  }
  return kinds;
}

[[noreturn]] void be_child(const std::vector<const MpiKind*>& kinds, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is for the answer
  for (const MpiKind* kind : kinds) {
    const AnyMpi mpi = load_mpi(*kind);
    if (mpi.index() != 0)
      std::visit([socket](const auto& calls) { take_part(calls, socket); }, mpi);
  }
  ::_exit(1);
}

// The child that speaks MPI.
class Speaker {
 public:
  Speaker(const std::vector<const MpiKind*>& kinds, Nanos wait)
      : wait_(wait), until_(monotonic_now() + wait) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw RunError(fmt::format("--rendezvous mpi: no socket ({})", std::strerror(errno)));
    Fd of_child(ends[1]);
    socket_ = Fd(ends[0]);
    pid_ = ::fork();
    if (pid_ == 0) be_child(kinds, of_child);
    if (pid_ < 0)
      throw RunError(fmt::format("--rendezvous mpi: no child process ({})", std::strerror(errno)));
  }
  ~Speaker() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  template <class Part>
  Part hear() {
    Part part;
    await();
    if (::recv(socket_, &part, sizeof part, MSG_WAITALL) != sizeof part) say_how_it_ended();
    return part;
  }
  void tell(const Told& told) {
    static_cast<void>(::send(socket_, &told, sizeof told, MSG_NOSIGNAL));
  }

  // MPI ends in all processes together.
  void await_end() {
    char nothing = 0;
    await();
    if (::recv(socket_, &nothing, 1, 0) != 0) return;
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  void await() {
    pollfd waits{socket_, POLLIN, 0};
    for (;;) {
      const Nanos left = until_ - monotonic_now();
      const int come = left > 0 ? ::poll(&waits, 1, static_cast<int>(left / kMillisecond) + 1) : 0;
      if (come > 0) return;
      if (come < 0 && errno == EINTR) continue;
      throw RunError(
          fmt::format("--rendezvous mpi: MPI has not brought the processes together within {}; "
                      "look whether all "
                      "were started by one mpirun, or use --rendezvous env",
                      show_duration(wait_)));
    }
  }
  [[noreturn]] void say_how_it_ended() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    throw RunError(fmt::format(
        "--rendezvous mpi: MPI {} before the processes had met; look at what it says above, or use "
        "--rendezvous env",
        spell_end(status)));
  }

  Nanos wait_, until_;
  Fd socket_;
  pid_t pid_ = -1;
};

std::string any_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(monotonic_now());
  return fmt::format("{:016x}", number);
}

// A line of the job's name, the port and the addresses.
Told told_of(const JobPlace& place) {
  Told told;
  std::string text = fmt::format("{} {}", place.job, place.port);
  for (const std::string& address : place.addresses) {
    if (text.size() + 1 + address.size() < sizeof told.text) text += " " + address;
  }
  std::memcpy(told.text, text.data(), text.size());
  return told;
}

void take_told(Told& told, JobPlace& place) {
  told.text[sizeof told.text - 1] = '\0';
  std::istringstream words(told.text);
  words >> place.job >> place.port;
  place.addresses.clear();
  for (std::string address; words >> address;) place.addresses.push_back(address);
}

// mpirun's processes are each alone where the library is not of its kind.
void check_size(const Variable& variable, int processes) {
  if (processes > 1) return;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const text = variable(name);
    int started = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), started);
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

JobPlace place_by_mpi(const Variable& variable, Nanos wait) {
  Speaker speaker(kinds_to_try(variable), wait);
  const auto standing = speaker.hear<Standing>();
  check_size(variable, standing.processes);
  JobPlace place;
  place.number = standing.number;
  place.processes = standing.processes;
  if (place.number == 0) {
    place.job = "mpi-" + any_name();
    place.listener = listen_at(0);
    place.port = port_of(place.listener);
    place.addresses = own_addresses();
    speaker.tell(told_of(place));
  }
  Told told = speaker.hear<Told>();
  take_told(told, place);
  speaker.await_end();
  return place;
}

}  // namespace loaderscope
