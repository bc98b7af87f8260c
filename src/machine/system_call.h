// The system call in which the main thread of a process waits, as /proc shows it from outside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

namespace loaderscope {

// Kinds of calls that may not return.
enum class CallKind : std::uint8_t {
  other,
  reads,
  writes,
  opens,
  connects,
  polls,
  locks,         // lock of this process
  locks_shared,  // lock shared with other processes
  locks_file,
  sleeps
};

struct SystemCall {
  std::string_view name;  // "": it is in none, or in one of no known name
  CallKind kind = CallKind::other;
  std::string object;  // the file, or the other side of the socket; "": not known
  bool is_socket = false;
  Nanos patience = 0;  // a lock is given up then; 0: never, or not known
};

// Options for read_system_call().
struct CallLook {
  std::filesystem::path root = "/";  // or a folder with its own proc for tests
  bool other_side = true;            // looks up peers of sockets, which is expensive with many
                                     // connections
};

// Parses the text of /proc/PID/syscall. Looks up the open files and the memory of `process`.
SystemCall read_system_call(pid_t process, std::string_view text, const CallLook& how = {});
// Now. Nothing of what may not be read.
SystemCall read_system_call(pid_t process, const CallLook& how = {});

// The file or socket of another process with a given descriptor.
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
std::string find_other_side(const std::string& path, const std::string& inode, bool wide);

}  // namespace loaderscope
