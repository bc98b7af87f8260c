// Copies out of mapped files, which another program may truncate at any time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace loaderscope::source {

// Returns the number of bytes copied. A plain copy of the others would end the process by SIGBUS.
// Bytes cut off the last page of a file read as zeros, so a caller that must know checks the size
// afterwards.
std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from);

// Calls a library's code that follows offsets in a mapped file. Returns false if the call raised
// SIGBUS or SIGSEGV, or called give_up_guarded. The call then stops immediately: its resources are
// not released, and no destructor runs.
bool call_guarded(const std::function<void()>& call);
// Returns if no call of this thread is guarded.
void give_up_guarded();

}  // namespace loaderscope::source
