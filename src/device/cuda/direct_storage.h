// Reads from storage into GPU memory without host memory in between (GPUDirect Storage, cuFile).
// This says which way such reads take. It does not measure them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace loaderscope::cuda {

// Calls of libcufile, which is loaded when the program runs. Codes other than 0 are errors. Tests
// replace it.
class CuFile {
 public:
  virtual ~CuFile() = default;
  virtual int refuse_host_memory() = 0;  // call before the driver is opened
  virtual int open_driver() = 0;
  virtual void close_driver() = 0;
  virtual int add_file(int fd, void*& file) = 0;  // open with O_DIRECT
  virtual void remove_file(void* file) = 0;
  // Returns the bytes, or a negative error.
  virtual ssize_t read(void* file, void* gpu_memory, std::size_t bytes) = 0;
};

struct CuFileLibrary {
  std::unique_ptr<CuFile> calls;  // null: `reason` says why
  std::string reason;
};
CuFileLibrary find_cufile();
CuFileLibrary load_cufile(const std::vector<std::string>& libraries);

enum class StorageWay : std::uint8_t {
  peer_to_peer,  // the kernel's own: PCI P2PDMA
  nvidia_fs,     // the driver nvidia-fs
};

// Reads the first bytes of a file into GPU memory with host memory refused. Returns the way.
// Throws RunError with the reason if there is no direct way. `gpu_memory` has at least `bytes`,
// which are a multiple of 4096. `nvidia_fs`: the folder that this driver has in /proc.
StorageWay find_storage_way(CuFile& calls, const std::string& path, void* gpu_memory,
                            std::size_t bytes,
                            const std::filesystem::path& nvidia_fs = "/proc/driver/nvidia-fs");

}  // namespace loaderscope::cuda
