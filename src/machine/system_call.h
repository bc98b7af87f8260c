// What the main thread of a process waits for in the kernel, as /proc shows it from outside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

namespace loaderscope {

// What one asks of a call that does not return.
enum class CallKind : std::uint8_t {
  other,
  reads,
  writes,
  opens,
  connects,
  polls,
  locks,         // of this process
  locks_shared,  // with others
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

// Where calls of other processes are looked up.
struct CallLook {
  std::filesystem::path root = "/";  // or a folder with its own proc for tests
  bool other_side = true;            // of sockets, which is dear where connections are many
};

// Of the text of /proc/PID/syscall: what `process` has open and in memory is looked up.
SystemCall system_call_of(pid_t process, std::string_view text, const CallLook& how = {});
// Now. Nothing of what may not be read.
SystemCall system_call_of(pid_t process, const CallLook& how = {});

}  // namespace loaderscope
