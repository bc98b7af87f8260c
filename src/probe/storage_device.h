// The device that a file lies on.
#pragma once

#include <filesystem>
#include <string>

namespace loaderscope::probe {

struct StorageDevice {
  std::string type;    // type of the file system: "ext4"; "": not known
  std::string source;  // mounted device or export: "/dev/nvme0n1p1", "server:/export"
  std::string kind;  // "NVMe", "rotational disk", "virtual disk", "network", "memory", "disk"; "":
                     // not known
};
// `root`: of the kernel's files.
StorageDevice device_of(const std::filesystem::path& root, const std::string& file);

}  // namespace loaderscope::probe
