#include "guest/library/this_thread.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/thread_meter.h"
#include "guest/library/api.h"
#include "guest/library/gpu_activity.h"
#include "guest/library/observers.h"
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
  static Membership instance;
  return instance;
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

namespace loaderscope::guest::library_threads {
namespace {

constexpr Nanos kShort = kMillisecond;
constexpr int kShortInterval = 16;  // short batches

enum Total { kMaking, kOthers, kTotals };

struct Reading {
  Nanos at = 0, own = 0, process = 0;
};

std::array<std::atomic<std::int64_t>, kTotals> totals;
std::atomic<int> making = 0;          // threads that make a batch
std::atomic<bool> is_shared = false;  // several threads have made one since the measurement began
thread_local bool is_making = false;  // the calling thread
thread_local bool is_measured = false;
thread_local Reading begun;
thread_local int left_out = 0;  // batches since the last one that was measured
thread_local bool was_short = false;

Nanos process_cpu_now() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

Reading read() { return {monotonic_now(), thread_cpu_now(), process_cpu_now()}; }

}  // namespace

void begin() {
  const bool is_alone = is_making ? making == 1 : making.fetch_add(1) == 0;
  is_making = true;
  is_measured = is_alone && (!was_short || ++left_out >= kShortInterval);
  if (!is_alone) is_shared = true;
  if (!is_measured) return;
  left_out = 0;
  is_shared = false;
  begun = read();
}

void end() {
  if (!is_making) return;
  is_making = false;
  --making;
  if (!is_measured) return;
  const Reading now = read();
  was_short = now.at - begun.at < kShort;
  if (is_shared) return;
  totals[kMaking] += now.at - begun.at;
  totals[kOthers] += (now.process - begun.process) - (now.own - begun.own);
}

bool any_making() { return making.load(std::memory_order_relaxed) > 0; }

void forget() {
  making = 0;
  is_making = false;
}

}  // namespace loaderscope::guest::library_threads

std::int64_t lsg_library_threads(int what) {
  using namespace loaderscope::guest::library_threads;
  return what >= 0 && what < kTotals ? totals[static_cast<std::size_t>(what)].load() : 0;
}
