// The file or socket of another process with a given descriptor.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace loaderscope {

struct OpenFile {
  std::string name;  // path, or the peer of a socket as "10.0.0.3:443"; "": not known
  bool is_socket = false;
};
// `root` is "/", or a folder with its own proc for tests.
OpenFile open_file(pid_t process, int descriptor, const std::filesystem::path& root = "/");
// Without the other side of a socket, for which a table of all connections is read: `name` is
// "socket:[INODE]" then.
OpenFile open_file_here(pid_t process, int descriptor, const std::filesystem::path& root);

// Reads a table such as /proc/net/tcp (`wide` false) or tcp6. Returns the peer of the socket that
// has `inode`; "" if it is not in there.
std::string other_side_in(const std::string& path, const std::string& inode, bool wide);

}  // namespace loaderscope
