#include "guest/library/api.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <deque>
#include <memory>
#include <mutex>

#include "device/devices.h"
#include "guest/library/gpu_activity.h"
#include "guest/library/observers.h"
#include "guest/library/this_thread.h"
#include "nvtx/ranges.h"

namespace {

using namespace loaderscope;
using namespace loaderscope::guest;

std::unique_ptr<Device> device;  // device of the training thread
// last batch taken at each step whose compute is not yet collected
std::deque<std::int64_t> taken_by_step;

}  // namespace

int lsg_join(const char* socket_path, const char* hello) {
  static std::once_flag once;
  std::call_once(once, [] {
    ::pthread_atfork(nullptr, nullptr, forget_parent);
    nvtx::connect();
  });
  return membership().join(socket_path, hello);
}

void lsg_say(const char* message) { membership().say(message); }

int lsg_must_stop(void) { return membership().must_stop() ? 1 : 0; }

int lsg_timing_wanted(void) { return membership().timing_wanted() ? 1 : 0; }

std::int64_t lsg_thread_cpu_ns(void) { return cpu_of_thread(); }

std::int64_t lsg_object_size(std::int64_t address) {
  Dl_info place;
  void* symbol = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(address), &place, &symbol, RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr)
    return 0;
  return static_cast<std::int64_t>(static_cast<const ElfW(Sym)*>(symbol)->st_size);
}

void lsg_begin_work(std::int32_t iterator, std::int32_t generation, std::int64_t batch,
                    int is_timed) {
  open_counter::count(open_counter::What::batches);
  if (StageStack* stack = made_stack())
    stack->begin_work(packed_batch(iterator, generation, batch), is_timed != 0);
}

void lsg_sample(std::int64_t sample) {
  constexpr Nanos kSampleCost = 600;  // ns of the guest's own code
  if (StageStack* stack = stack_of_thread()) stack->sample(sample);
  if (sample >= 0) membership().took(kSampleCost);
}

void lsg_enter(int stage) {
  if (StageStack* stack = stack_of_thread()) stack->enter(static_cast<Stage>(stage));
}

void lsg_leave(std::int64_t bytes) {
  if (StageStack* stack = stack_of_thread()) stack->leave(bytes);
}

int lsg_is_in_stage(void) {
  const StageStack* stack = stack_of_thread();
  return stack != nullptr && stack->is_in_stage() ? 1 : 0;
}

int lsg_enter_after_samples(int stage) {
  StageStack* stack = stack_of_thread();
  if (stack == nullptr || !stack->takes_call(false)) return 0;
  stack->sample(StageStack::kBetweenSamples);
  stack->enter(static_cast<Stage>(stage));
  return 1;
}

std::int64_t lsg_end_work(int continues_elsewhere) {
  library_threads::end();
  if (StageStack* stack = stack_of_thread()) stack->end_work(continues_elsewhere != 0);
  return monotonic_now();
}

void lsg_start_up(std::int64_t begin, std::int64_t end) {
  if (StageStack* stack = made_stack()) stack->writer().start_up(begin, end);
}

void lsg_rest(std::int64_t begin, std::int64_t end) {
  if (StageStack* stack = made_stack()) stack->writer().record_idle(begin, end);
}

void lsg_device_open(int simulated, int own_copy_stream, std::int64_t in_flight) {
  static const std::atomic<int> kNeverStops{0};
  RunConfig config;
  config.trainer.copy = own_copy_stream != 0 ? CopyMode::stream : CopyMode::async;
  config.trainer.in_flight = in_flight;
  device = std::move(
      (simulated != 0 ? make_sim_devices : make_null_devices)(config, kNeverStops).front());
}

void lsg_device_copy(std::int64_t step, std::int64_t taken, const void* host, std::int64_t bytes,
                     std::int64_t duration, int caller_copies, int wait) {
  taken_by_step.push_back(taken);
  device->submit_copy({.step = step,
                       .host = static_cast<const std::byte*>(host),
                       .bytes = bytes,
                       .duration = duration,
                       .caller_copies = caller_copies != 0});
  if (wait != 0) device->wait_copied(step);
}

void lsg_device_compute(std::int64_t step, std::int64_t duration) {
  device->submit_compute(step, duration);
}

void lsg_device_wait(std::int64_t step) { device->wait_computed(step); }

void lsg_device_collect(void) {
  PageRings* rings = membership().rings();
  if (rings == nullptr) return;
  const auto report = [rings](GuestEventKind kind, const Interval& interval) {
    GuestEvent fact;
    fact.kind = kind;
    fact.begin = interval.begin;
    fact.end = interval.end;
    fact.count = taken_by_step.front();
    rings->facts.push(fact);
  };
  while (const auto times = device->collect()) {
    if (times->copy.ran()) report(GuestEventKind::copied, times->copy);
    report(GuestEventKind::computed, times->compute);
    taken_by_step.pop_front();
  }
}

const char* lsg_gpu_watch(void) {
  // Called by threads of CUPTI, one at a time.
  return gpu_activity::watch([](const GpuRecord& record) {
    if (PageRings* rings = membership().rings()) rings->gpu.push(record);
  });
}

void lsg_gpu_record(int on) { gpu_activity::record(on != 0); }

int lsg_gpu_begin_stage(int stage) {
  return gpu_activity::begin_stage(static_cast<Stage>(stage)) ? 1 : 0;
}

void lsg_gpu_end_stage(void) { gpu_activity::end_stage(); }

void lsg_gpu_stop(void) { gpu_activity::stop(); }
