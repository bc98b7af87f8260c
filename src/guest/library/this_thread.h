// Records of the calling thread, and this process as a member of the job.
#pragma once

#include "guest/library/membership.h"
#include "guest/library/stage_stack.h"

namespace loaderscope::guest {

Membership& membership();

// Stack of the calling thread. Null if the thread has none, as in the child of a fork.
StageStack* stack_of_thread();
// Returns the stack, and makes a missing one. Null before the process has joined.
StageStack* made_stack();
// The run-queue delay of the calling thread since the last call.
Nanos delay_of_thread();
Nanos cpu_of_thread();
CpuMeter::Reading reading_of_thread();
std::int64_t number_of_thread();  // the system's thread number
// Returns true while the calling thread trains on a batch that it has taken.
bool trains_on_batch();
// Drops the parent's state in the child of a fork.
void forget_parent();

}  // namespace loaderscope::guest

namespace loaderscope::guest::library_threads {

// CPU time that other threads of the process take while one makes a batch: those of a library, such
// as a tokenizer, for which the thread waits.

// The calling thread makes a batch between these two. A thread that begins again has left the batch
// before. Takes 2 us of a batch of at least 1 ms. Only each 16th of shorter batches is measured.
void begin();
void end();
bool any_making();  // true: a thread of the process makes a batch

// Drops the parent's state in the child of a fork.
void forget();

}  // namespace loaderscope::guest::library_threads
