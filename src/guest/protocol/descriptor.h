// Transfer of a page's memory from a process to the host, as a file descriptor with the first
// message. `line` is a connected socket of the family AF_UNIX. Neither side waits.
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

#include "base/fd.h"

namespace loaderscope::guest {

// Returns 0 or an errno.
int send_with_descriptor(int line, std::string_view message, int descriptor);

struct Received {
  ssize_t length = -1;  // bytes of the message; negative: an error, described by errno
  Fd descriptor;        // negative: none came, or this process may not open more
};
Received receive_with_descriptor(int line, std::span<char> message);

}  // namespace loaderscope::guest
