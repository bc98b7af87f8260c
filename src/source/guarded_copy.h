// Copies out of mapped files, which another program may cut short at any time.
#pragma once

#include <cstddef>
#include <span>

namespace loaderscope::source {

// How many of the bytes could be had, where a plain copy would end the process by SIGBUS. What is
// cut off the last page of a file reads as zeros: whoever must know looks at the size afterwards.
std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from);

}  // namespace loaderscope::source
