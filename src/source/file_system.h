// File system of the data, as far as it affects caching.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope::source {

struct FileSystemKind {
  std::string_view name;   // "NFS", ...; "" for an ordinary local one
  bool network = false;    // a server has a cache of its own, which cannot be observed
  bool in_memory = false;  // files exist only in the page cache
  bool remote = false;     // objects of a server, which no page cache holds
};

FileSystemKind file_system_of(const std::string& path);
FileSystemKind file_system_of(int fd);
FileSystemKind file_system_of_type(long magic);  // statfs(2)'s f_type

}  // namespace loaderscope::source
