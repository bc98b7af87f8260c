// Copies out of mapped files, which another program may cut short at any time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace loaderscope::source {

// How many of the bytes could be had, where a plain copy would end the process by SIGBUS. What is
// cut off the last page of a file reads as zeros: whoever must know looks at the size afterwards.
std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from);

// Another's code that follows what a mapped file says, wherever that leads: false where it would
// have ended the process by SIGBUS or SIGSEGV, or has called give_up_guarded. It then stops where
// it is; nothing that it holds is given back, and no destructor runs.
bool call_guarded(const std::function<void()>& call);
// Returns where no call of this thread is guarded.
void give_up_guarded();

}  // namespace loaderscope::source
