// Samples of the line that a worker runs while it is in `opaque`. A thread without Python's lock
// asks for each of them by a pending call. The interpreter makes that call in the worker's thread,
// before its next instruction. No signal is sent: it would interrupt the program's system calls. A
// thread of Python's own would see only the lines at which the worker releases the lock.
#pragma once

#include <cstdint>

#include "guest/protocol/page.h"

namespace loaderscope::guest::stack_sampler {

// Starts sampling until the process ends or forks. Call once per process, with Python's lock.
void begin(std::int64_t every_ns, const CurrentWork& current_work);
// Stops sampling before the interpreter ends.
void end();
void forget();  // in the child of a fork, which has no such thread

}  // namespace loaderscope::guest::stack_sampler
