#include "probe/storage_device.h"

#include <fstream>
#include <sstream>
#include <string_view>

#include "machine/proc_file.h"
#include "source/store.h"

namespace loaderscope::probe {
namespace {

namespace fs = std::filesystem;

// One line of mountinfo: "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS".
struct Mount {
  std::string device, point, type, source;
};

// Replaces \040, which is a blank in names.
std::string without_escapes(std::string text) {
  for (std::size_t at = text.find("\\040"); at != text.npos; at = text.find("\\040", at))
    text.replace(at, 4, " ");
  return text;
}

Mount mount_of(const std::string& line) {
  Mount mount;
  std::istringstream in(line);
  std::string word;
  in >> word >> word >> mount.device >> word >> mount.point;
  while (in >> word && word != "-") {
  }
  in >> mount.type >> mount.source;
  mount.point = without_escapes(mount.point);
  return mount;
}

bool lies_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// A host's disks look as if they turned, whatever they are.
bool is_of_host(const fs::path& device) {
  std::error_code error;
  const std::string place = fs::canonical(device, error).string();
  for (const char* bus : {"/virtio", "/vbd-", "/vmbus"})
    if (place.find(bus) != place.npos) return true;
  return false;
}

std::string kind_of(const fs::path& root, const Mount& mount) {
  if (mount.source.find("nvme") != mount.source.npos) return "NVMe";
  // A partition's queue is that of its disk.
  const fs::path device = root / "sys/dev/block" / mount.device;
  if (is_of_host(device)) return "virtual disk";
  for (const fs::path& queue : {device / "queue", device / "../queue"}) {
    const std::string turns = text_of((queue / "rotational").string());
    if (turns.starts_with('1')) return "rotational disk";
    if (turns.starts_with('0')) return "disk";
  }
  return "";
}

}  // namespace

StorageDevice device_of(const fs::path& root, const std::string& file) {
  StorageDevice device;
  const source::FileSystemKind kind = source::file_system_of(file);
  std::error_code error;
  const std::string path = fs::canonical(file, error).string();
  Mount best;
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; !error && std::getline(in, line);) {
    Mount mount = mount_of(line);
    // A later mount at the same place hides the earlier one.
    if (lies_below(path, mount.point) && mount.point.size() >= best.point.size())
      best = std::move(mount);
  }
  device.type = best.type.empty() ? std::string(kind.name) : best.type;
  device.source = best.source;
  device.kind = kind.network ? "network" : kind.in_memory ? "memory" : kind_of(root, best);
  return device;
}

}  // namespace loaderscope::probe
