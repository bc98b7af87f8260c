// Functions of an MPI library that is loaded at run time, so that one program runs without any and
// with every one. Open MPI's handles are addresses; MPICH's, and after it Intel's, Cray's and
// MVAPICH's, are numbers.
#pragma once

#include <span>
#include <variant>

namespace loaderscope {

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

}  // namespace loaderscope
