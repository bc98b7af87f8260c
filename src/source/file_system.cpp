#include "source/file_system.h"

#include <sys/vfs.h>

#include <cstdint>

namespace loaderscope::source {
namespace {

struct Known {
  std::uint32_t magic;
  FileSystemKind kind;
};

constexpr Known kKnown[] = {
    {0x00006969, {"NFS", true, false}},       {0x0bd00bd0, {"Lustre", true, false}},
    {0x47504653, {"GPFS", true, false}},      {0x65735546, {"FUSE", true, false}},
    {0xff534d42, {"CIFS", true, false}},      {0xfe534d42, {"SMB", true, false}},
    {0x0000517b, {"SMB", true, false}},       {0x00c36400, {"Ceph", true, false}},
    {0x19830326, {"BeeGFS", true, false}},    {0x01021997, {"9P", true, false}},
    {0x5346414f, {"AFS", true, false}},       {0xaad7aaea, {"PanFS", true, false}},
    {0x01021994, {"tmpfs", false, true}},     {0x858458f6, {"ramfs", false, true}},
    {0x958458f6, {"hugetlbfs", false, true}},
};

}  // namespace

FileSystemKind file_system_of_type(long magic) {
  for (const Known& known : kKnown) {
    if (known.magic == static_cast<std::uint32_t>(magic)) return known.kind;
  }
  return {};
}

FileSystemKind file_system_of(const std::string& path) {
  struct statfs facts {};
  if (::statfs(path.c_str(), &facts) != 0) return {};
  return file_system_of_type(facts.f_type);
}

FileSystemKind file_system_of(int fd) {
  struct statfs facts {};
  if (::fstatfs(fd, &facts) != 0) return {};
  return file_system_of_type(facts.f_type);
}

}  // namespace loaderscope::source
