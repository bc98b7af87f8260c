// What another process has open under a number.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace loaderscope {

struct OpenFile {
  std::string name;  // its path; of a socket the other side, as "10.0.0.3:443"; "": not known
  bool is_socket = false;
};
// `root` is "/", or a folder with its own proc for tests.
OpenFile open_file(pid_t process, int descriptor, const std::filesystem::path& root = "/");
// Without the other side of a socket, for which a table of all connections is read: `name` is
// "socket:[INODE]" then.
OpenFile open_file_here(pid_t process, int descriptor, const std::filesystem::path& root);

// Of a table as /proc/net/tcp (`wide` false) and tcp6 are: the other side of the socket that has
// `inode`; "" where it is not in there.
std::string other_side_in(const std::string& path, const std::string& inode, bool wide);

}  // namespace loaderscope
