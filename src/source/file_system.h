// On what kind of file system data lie, as far as it bears on caching.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope::source {

struct FileSystemKind {
  std::string_view name;   // "NFS", ...; "" for an ordinary local one
  bool network = false;    // a server has a cache of its own, which cannot be seen from here
  bool in_memory = false;  // its files are nowhere but in the page cache
  bool remote = false;     // objects of a server, which no page cache holds
};

FileSystemKind file_system_of(const std::string& path);
FileSystemKind file_system_of(int fd);
FileSystemKind file_system_of_type(long magic);  // statfs(2)'s f_type

}  // namespace loaderscope::source
