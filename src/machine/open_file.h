// What another process has open under a number.
#pragma once

#include <sys/types.h>

#include <string>

namespace loaderscope {

struct OpenFile {
  std::string name;  // its path; of a socket the other side, as "10.0.0.3:443"; "": not known
  bool is_socket = false;
};
OpenFile open_file(pid_t process, int descriptor);

// Of a table as /proc/net/tcp (`wide` false) and tcp6 are: the other side of the socket that has
// `inode`; "" where it is not in there.
std::string other_side_in(const std::string& path, const std::string& inode, bool wide);

}  // namespace loaderscope
