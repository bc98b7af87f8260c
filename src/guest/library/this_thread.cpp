#include "guest/library/this_thread.h"

#include <unistd.h>

#include <memory>
#include <optional>

#include "base/thread_meter.h"
#include "guest/library/gpu_activity.h"
#include "guest/library/library_threads.h"
#include "guest/library/open_counter.h"
#include "guest/library/operators.h"
#include "guest/library/stack_sampler.h"

namespace loaderscope::guest {
namespace {

thread_local std::unique_ptr<ThreadLog> own_log;
thread_local std::unique_ptr<StageStack> own_stack;
thread_local std::optional<RunQueueMeter> own_run_queue;
thread_local CpuMeter own_cpu;
thread_local std::int64_t own_number = 0;

}  // namespace

Membership& membership() {
  static Membership of_process;
  return of_process;
}

StageStack* stack_of_thread() { return own_stack.get(); }

StageStack* made_stack() {
  PageRings* rings = membership().rings();
  if (rings == nullptr) return nullptr;
  if (!own_stack) {
    own_log = std::make_unique<ThreadLog>(rings->spans);
    own_stack = std::make_unique<StageStack>(*own_log, rings->current_work);
  }
  return own_stack.get();
}

Nanos delay_of_thread() {
  if (!own_run_queue) own_run_queue.emplace();
  return own_run_queue->read_if_it_left();
}

Nanos cpu_of_thread() { return own_cpu.read().cpu; }
CpuMeter::Reading reading_of_thread() { return own_cpu.read(); }

std::int64_t number_of_thread() {
  if (own_number == 0) own_number = ::gettid();
  return own_number;
}

// The stages that were open are the parent's to end: to destroy them here would write their spans
// into its ring. The files under /proc are those of the parent's thread.
void forget_parent() {
  static_cast<void>(own_stack.release());
  static_cast<void>(own_log.release());
  own_run_queue.reset();
  own_cpu = {};
  own_number = 0;
  library_threads::forget();
  stack_sampler::forget();
  open_counter::forget();
  operators::forget();
  gpu_activity::forget();
  membership().leave();
}

}  // namespace loaderscope::guest
