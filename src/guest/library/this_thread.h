// What the calling thread writes down, and this process as a member of the job.
#pragma once

#include "guest/library/membership.h"
#include "guest/library/stage_stack.h"

namespace loaderscope::guest {

Membership& membership();

// Of the calling thread; null where it has made none, as in the child of a fork.
StageStack* stack_of_thread();
// Likewise, made where there is none; null before the process has joined.
StageStack* made_stack();
// The run-queue delay of the calling thread since the last call.
Nanos delay_of_thread();
Nanos cpu_of_thread();
CpuMeter::Reading reading_of_thread();
std::int64_t number_of_thread();  // as the system knows it
// In the child of a fork: all of it is the parent's.
void forget_parent();

}  // namespace loaderscope::guest
