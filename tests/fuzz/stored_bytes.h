// The bytes that a fuzzer hands in, as what is stored in a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "loaderscope/units.h"

namespace loaderscope::fuzz {

using Stored = std::span<const std::byte>;

// Copies bytes like a read of a file. Returns their number, 0 at the end. A negative begin is a bug
// of the caller and traps.
inline std::size_t read_at(Stored stored, Bytes begin, std::span<std::byte> to) {
  if (begin < 0) __builtin_trap();
  if (begin >= std::ssize(stored)) return 0;
  const Stored from = stored.subspan(static_cast<std::size_t>(begin));
  const std::size_t count = std::min(from.size(), to.size());
  std::copy_n(from.begin(), count, to.begin());
  return count;
}

// Reads each of them, so that a sanitizer sees what lies outside.
inline void touch(Stored bytes) {
  for (const std::byte byte : bytes) {
    volatile std::byte last = byte;
    static_cast<void>(last);
  }
}

}  // namespace loaderscope::fuzz
