// What this machine is and how much of it this process may use.
#pragma once

#include <filesystem>
#include <optional>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Never throws: what cannot be found out stays empty or 0; `cores` is at least a small positive
// number.
MachineFacts read_machine();

// Models of NVIDIA GPUs and the driver's version, by its own files below `root`.
void read_gpus(const std::filesystem::path& root, MachineFacts& machine);

// Whether there is a device, of whatever make, that a program could copy batches to. Of a kernel
// that names none there is nothing to lock pages for.
bool may_have_accelerator(const std::filesystem::path& root);

// Memory that this process may still take: what the kernel could free, and what ulimit -v and the
// limits of the cgroup and its parents leave. Nothing when that cannot be found out.
std::optional<Bytes> free_memory(const std::filesystem::path& root);

// Shared memory that processes hand on, PyTorch's workers among them.
struct SharedFolder {
  Bytes used = 0, free = 0;  // of all programs
};
// Of /dev/shm; nothing where there is none.
std::optional<SharedFolder> read_shared_folder();

// What this process may lock into memory; nothing when unlimited.
std::optional<Bytes> lockable_memory();

}  // namespace loaderscope
