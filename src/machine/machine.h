// Facts about this machine, and the part of it that this process may use.
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

// Returns true if a device may exist, of any make, to which a program could copy batches. If the
// kernel names none, there is no use for page-locked memory.
bool may_have_accelerator(const std::filesystem::path& root);

// Memory that this process may still take: what the kernel could free, and what ulimit -v and the
// limits of the cgroup and its parents leave. Nothing when that cannot be found out.
std::optional<Bytes> free_memory(const std::filesystem::path& root);

// Shared memory that processes hand on, PyTorch's workers among them.
struct SharedFolder {
  Bytes used = 0, free = 0;  // bytes of all programs
};
// Returns the state of /dev/shm; nothing if it does not exist. `root`: the root folder of another
// mount namespace, such as /proc/PID/root.
std::optional<SharedFolder> read_shared_folder(const std::string& root = "");

// Returns the memory that this process may lock; nothing when unlimited.
std::optional<Bytes> lockable_memory();

}  // namespace loaderscope
