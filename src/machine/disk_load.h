// Load of the disks of this machine.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "loaderscope/units.h"

namespace loaderscope {

struct DiskLoad {
  double busy_s = 0;  // with at least one request under way, since boot
  Bytes read = 0;     // bytes read from it
};

// Returns whole disks by name: no partitions, loop devices, memory or network file systems. `root`
// is "/", or a copy of /proc and /sys for tests.
std::map<std::string, DiskLoad> read_disks(const std::filesystem::path& root);

}  // namespace loaderscope
