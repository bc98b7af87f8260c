// How busy the disks of this machine are.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "loaderscope/units.h"

namespace loaderscope {

struct DiskLoad {
  double busy_s = 0;  // with at least one request under way, since boot
  Bytes read = 0;     // from it
};

// Of whole disks by name: no partitions, loop devices or memory. `root` is "/", or a copy of /proc
// and /sys for tests. File systems of a network are not among them.
std::map<std::string, DiskLoad> read_disks(const std::filesystem::path& root);

}  // namespace loaderscope
