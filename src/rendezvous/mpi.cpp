#include "rendezvous/mpi.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/failure_text.h"
#include "base/symbol.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr int kMpichWorld = 0x44000000, kMpichByte = 0x4c00010d;  // values from its mpi.h, fixed by
                                                                  // its ABI

constexpr const char* kOpenMpiFiles[] = {"libmpi.so.40", nullptr};
constexpr const char* kMpichFiles[] = {"libmpi.so.12", "libmpich.so.12", nullptr};

template <class Handle>
bool find_calls(MpiCalls<Handle>& calls, void* library) {
  return find_symbol(calls.start, library, "MPI_Init") &&
         find_symbol(calls.number, library, "MPI_Comm_rank") &&
         find_symbol(calls.processes, library, "MPI_Comm_size") &&
         find_symbol(calls.broadcast, library, "MPI_Bcast") &&
         find_symbol(calls.end, library, "MPI_Finalize");
}

AnyMpi open_mpi(void* library) {
  OpenMpi calls;
  calls.world = ::dlsym(library, "ompi_mpi_comm_world");
  calls.byte = ::dlsym(library, "ompi_mpi_byte");
  if (calls.world == nullptr || calls.byte == nullptr || !find_calls(calls, library)) return {};
  return calls;
}

AnyMpi mpich(void* library) {
  Mpich calls;
  calls.world = kMpichWorld;
  calls.byte = kMpichByte;
  if (!find_calls(calls, library)) return {};
  return calls;
}

constexpr MpiKind kKinds[] = {
    {"Open MPI", kOpenMpiFiles, "OMPI_COMM_WORLD_SIZE", open_mpi},
    {"MPICH", kMpichFiles, "PMI_SIZE", mpich},
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
  MpiStatus own;
  if (mpi.start(nullptr, nullptr) != 0 || mpi.number(mpi.world, &own.number) != 0 ||
      mpi.processes(mpi.world, &own.processes) != 0)
    ::_exit(1);
  write_all(socket, own);
  MpiAddress address;
  if (own.number == 0) address = read_all<MpiAddress>(socket);
  if (mpi.broadcast(address.text, sizeof address.text, mpi.byte, 0, mpi.world) != 0) ::_exit(1);
  write_all(socket, address);
  mpi.end();
  ::_exit(0);
}

// Returns the kind of the mpirun that started this process first.
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

}  // namespace

std::span<const MpiKind> mpi_kinds() { return kKinds; }

bool is_there(const MpiKind& kind) {
  for (const char* const* file = kind.files; *file != nullptr; ++file) {
    void* const library = ::dlopen(*file, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    ::dlclose(library);
    return true;
  }
  return false;
}

AnyMpi load_mpi(const MpiKind& kind) {
  for (const char* const* file = kind.files; *file != nullptr; ++file) {
    // Parts of the library look up its symbols globally.
    void* const library = ::dlopen(*file, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) continue;
    if (AnyMpi calls = kind.calls(library); calls.index() != 0) return calls;
  }
  return {};
}

MpiChild::MpiChild(const Variable& variable, Nanos wait)
    : wait_(wait), until_(monotonic_now() + wait) {
  const std::vector<const MpiKind*> kinds = kinds_to_try(variable);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw RunError(fmt::format("--rendezvous mpi: no socket ({})", std::strerror(errno)));
  const Fd child_end(ends[1]);
  socket_ = Fd(ends[0]);
  pid_ = ::fork();
  if (pid_ == 0) be_child(kinds, child_end);
  if (pid_ < 0)
    throw RunError(fmt::format("--rendezvous mpi: no child process ({})", std::strerror(errno)));
}

MpiChild::~MpiChild() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

MpiStatus MpiChild::standing() {
  MpiStatus own;
  receive(&own, sizeof own);
  return own;
}

void MpiChild::send_address(const MpiAddress& address) {
  static_cast<void>(::send(socket_, &address, sizeof address, MSG_NOSIGNAL));
}

MpiAddress MpiChild::receive_address() {
  MpiAddress address;
  receive(&address, sizeof address);
  return address;
}

void MpiChild::await_end() {
  char nothing = 0;
  await();
  if (::recv(socket_, &nothing, 1, 0) != 0) return;
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void MpiChild::receive(void* bytes, std::size_t size) {
  await();
  if (::recv(socket_, bytes, size, MSG_WAITALL) != static_cast<ssize_t>(size)) say_how_it_ended();
}

void MpiChild::await() {
  pollfd waits{socket_, POLLIN, 0};
  for (;;) {
    const Nanos left = until_ - monotonic_now();
    const int come = left > 0 ? ::poll(&waits, 1, static_cast<int>(left / kMillisecond) + 1) : 0;
    if (come > 0) return;
    if (come < 0 && errno == EINTR) continue;
    throw RunError(
        fmt::format("--rendezvous mpi: MPI has not brought the processes together within {}",
                    format_duration(wait_)),
        "look whether all were started by one mpirun, or use --rendezvous env");
  }
}

void MpiChild::say_how_it_ended() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  throw RunError(
      fmt::format("--rendezvous mpi: MPI {} before the processes had met", describe_exit(status)),
      "look at what it says above, or use --rendezvous env");
}

}  // namespace loaderscope
