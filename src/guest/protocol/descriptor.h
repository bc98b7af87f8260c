// The memory of a page goes from the host to a process as a file descriptor, over the line between
// them: a connected socket of the family AF_UNIX.
#pragma once

namespace loaderscope::guest {

bool send_descriptor(int line, int descriptor);  // false: the other side is gone
// One that the caller is to close, or -errno: EPROTO where what came is none, EMFILE where this
// process may not open more.
int receive_descriptor(int line);

}  // namespace loaderscope::guest
