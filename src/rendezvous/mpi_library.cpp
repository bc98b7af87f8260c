#include "rendezvous/mpi_library.h"

#include <dlfcn.h>

#include "base/symbol.h"

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

}  // namespace loaderscope
