// The memory of a page goes from a process to the host as a file descriptor, with the first message
// on the line between them: a connected socket of the family AF_UNIX. Neither side waits.
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

#include "base/fd.h"

namespace loaderscope::guest {

// 0, or an errno.
int send_with_descriptor(int line, std::string_view message, int descriptor);

struct Received {
  ssize_t length = -1;  // of the message; less than 0: an error, which is in errno
  Fd descriptor;        // less than 0: none came, or this process may not open more
};
Received receive_with_descriptor(int line, std::span<char> message);

}  // namespace loaderscope::guest
