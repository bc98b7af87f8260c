// MPI, loaded at run time and spoken in a child.
#pragma once

#include <sys/types.h>

#include <span>
#include <variant>

#include "base/fd.h"
#include "loaderscope/units.h"
#include "rendezvous/process_address.h"

namespace loaderscope {

// Functions of an MPI library that is loaded at run time, so that one program runs without any and
// with every one. Open MPI's handles are addresses; MPICH's, and after it Intel's, Cray's and
// MVAPICH's, are numbers.
template <class Handle>
struct MpiCalls {
  int (*start)(int* argc, char*** argv) = nullptr;
  int (*number)(Handle world, int* number) = nullptr;
  int (*processes)(Handle world, int* processes) = nullptr;
  int (*broadcast)(void* bytes, int count, Handle type, int from, Handle world) = nullptr;
  int (*end)() = nullptr;
  Handle world{}, byte{};
};
using OpenMpi = MpiCalls<void*>;
using Mpich = MpiCalls<int>;
using AnyMpi = std::variant<std::monostate, OpenMpi, Mpich>;

struct MpiKind {
  const char* name;
  const char* const* files;   // possible file names, up to null
  const char* size_variable;  // variable in which its mpirun gives the number of processes
  AnyMpi (*calls)(void* library);
};
std::span<const MpiKind> mpi_kinds();

bool is_there(const MpiKind& kind);
// The first of its files that is there and has all calls; std::monostate: none. It stays loaded.
AnyMpi load_mpi(const MpiKind& kind);

struct MpiStatus {
  int number = 0, processes = 0;
};
// Process 0 sends it to all.
struct MpiAddress {
  char text[4096] = {};
};

// MPI is spoken in a child: what MPI does to a process (threads, signals, abort()) stays there, and
// ends before anything is measured. All throw RunError where MPI ends, or says nothing for as long
// as is waited.
class MpiChild {
 public:
  // Loads the library of the launcher's kind, which `variable` identifies, or another that is
  // there.
  MpiChild(const Variable& variable, Nanos wait);
  ~MpiChild();
  MpiChild(const MpiChild&) = delete;
  MpiChild& operator=(const MpiChild&) = delete;

  MpiStatus standing();
  void send_address(const MpiAddress& address);  // call at process 0, before the others receive it
  MpiAddress receive_address();
  void await_end();  // call in all processes together

 private:
  void receive(void* bytes, std::size_t size);
  void await();
  [[noreturn]] void say_how_it_ended();

  Nanos wait_, until_;
  Fd socket_;
  pid_t pid_ = -1;
};

}  // namespace loaderscope
