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

namespace loaderscope::guest::python {

// A call that the interpreter makes in its main thread before its next instruction, asked for by a
// thread without its lock.

// False: its queue is full. The call may come in another thread of the interpreter's (3.12).
bool call_soon(int (*function)(void*));

// Between 3.9 and 3.11 the interpreter looks for such calls only when a thread asks for its lock.
// This asks for it after 0.2 ms, and not after the switch interval, and gives it back. True: it
// did. The caller holds no lock that a thread with the interpreter's lock may wait for.
bool have_it_look();
// Makes the calling thread's state for have_it_look(), while another thread holds the interpreter's
// lock and waits. Making it takes a lock that the child of a fork would find taken.
void prepare_to_look();
// In the child of a fork, whose parent's thread may have been within have_it_look().
void restore_interval();

}  // namespace loaderscope::guest::python
