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
// Drops the parent's state in the child of a fork.
void forget_parent();

}  // namespace loaderscope::guest
