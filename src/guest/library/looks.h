// A thread without Python's lock that has a worker's interpreter look where it stands, now and
// then while it is in `opaque`: by a signal to its thread, whose handler in Python runs before the
// next instruction. A thread of Python's own would have its turn where the worker gives it away.
#pragma once

#include <cstdint>

#include "guest/protocol/page.h"

namespace loaderscope::guest::looks {

// From now on the calling thread is sent `signal`, until the process ends or forks: once per
// process.
void begin(int signal, std::int64_t every_ns, Doing& doing);
// No signal is sent any more: the interpreter ends, and its handlers do.
void end();
// How long the thread was in `opaque` since it was asked last, as far as that was looked at.
std::int64_t take_ns();

}  // namespace loaderscope::guest::looks
