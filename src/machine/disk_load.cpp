#include "machine/disk_load.h"

#include <sstream>
#include <system_error>

#include "machine/proc_file.h"

namespace loaderscope {
namespace {

bool is_disk(const std::string& name, const std::filesystem::path& root) {
  if (name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram")) return false;
  std::error_code error;
  return std::filesystem::exists(root / "sys/block" / name, error);
}

}  // namespace

// "253 0 vda READS MERGED SECTORS MS WRITES MERGED SECTORS MS UNDER_WAY BUSY_MS ...".
std::map<std::string, DiskLoad> read_disks(const std::filesystem::path& root) {
  constexpr Bytes kSector = 512;
  std::map<std::string, DiskLoad> disks;
  std::istringstream lines(text_of((root / "proc/diskstats").string()));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::int64_t major = 0, minor = 0, value[10] = {};
    std::string name;
    words >> major >> minor >> name;
    for (std::int64_t& one : value) words >> one;
    if (words && is_disk(name, root))
      disks[name] = {static_cast<double>(value[9]) / 1e3, value[2] * kSector};
  }
  return disks;
}

}  // namespace loaderscope
