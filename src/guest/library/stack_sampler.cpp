#include "guest/library/stack_sampler.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/thread_meter.h"
#include "guest/library/pending_call.h"
#include "guest/library/python_abi.h"
#include "guest/library/this_thread.h"
#include "guest/library/timed_call.h"

namespace loaderscope::guest {
namespace stack_sampler {
namespace {

// Asking, and what is asked for, takes at most this part of the time.
constexpr Nanos kParts = 200;

std::mutex turn;  // protects requests and the end
std::atomic<bool> is_wanted{false};
std::atomic<bool> is_asked{false};         // a pending call waits
std::atomic<std::int64_t> unseen_time{0};  // ns in `opaque` since the last sample
pthread_t maker;                           // thread that makes batches
std::atomic<Nanos> sample_cost{0};         // CPU time of the last sample
python::Object* listener;                  // called by `maker` with `unseen_time`

// Requires Python's lock. Fails with exceptions of `listener`, such as a KeyboardInterrupt, which
// the program then receives.
int sample(void*) {
  is_asked = false;
  if (!is_wanted || listener == nullptr || pthread_equal(pthread_self(), maker) == 0) return 0;
  const Nanos begun = thread_cpu_now();
  python::Object* called = python::new_reference(listener);
  python::Object* result = python::api().PyObject_CallMethod(
      called, "__call__", "L", static_cast<long long>(unseen_time.exchange(0)));
  const bool has_failed = result == nullptr;
  python::let_go(result);
  python::let_go(called);
  sample_cost = thread_cpu_now() - begun;
  return has_failed ? -1 : 0;
}

bool is_in_opaque(const CurrentWork& current_work) {
  return current_work.stage.load(std::memory_order_relaxed) ==
         static_cast<std::int64_t>(Stage::opaque);
}

// False: no more, as the interpreter ends.
bool ask() {
  const std::lock_guard lock(turn);
  if (!is_wanted) return false;
  if (!is_asked.exchange(true) && !python::call_soon(sample))
    is_asked = false;  // the program's own pending calls fill the queue
  return true;
}

// A maker that gives its lock to this thread waits until this thread has run. That takes as long as
// this thread has just waited for a core, and what it does with the lock.
void run(Nanos every, const CurrentWork& current_work) {
  for (Nanos period = every;;) {
    const Nanos due = monotonic_now() + period;
    std::this_thread::sleep_for(std::chrono::nanoseconds(period));
    const Nanos late = monotonic_now() - due, slept = period;
    period = every;
    if (!is_wanted) return;
    if (!is_in_opaque(current_work)) continue;
    unseen_time += slept;
    const Nanos cpu = thread_cpu_now();
    if (!ask()) return;
    const Nanos waited = python::have_it_look() ? late : 0;
    period = std::max(every, kParts * (sample_cost + waited + thread_cpu_now() - cpu));
  }
}

}  // namespace

// Signals of the program are handled by threads of its own.
void begin(std::int64_t every_ns, const CurrentWork& current_work) {
  if (is_wanted.exchange(true)) return;
  maker = pthread_self();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::promise<void> prepared;
  std::future<void> is_prepared = prepared.get_future();
  std::thread([every_ns, &current_work, told = std::move(prepared)]() mutable {
    python::prepare_to_look();
    told.set_value();
    run(every_ns, current_work);
  }).detach();
  is_prepared.wait();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void end() {
  const std::lock_guard lock(turn);
  is_wanted = false;
}

// The parent's thread may have had the lock, and have asked for a sample.
void forget() {
  new (&turn) std::mutex;
  is_wanted = false;
  is_asked = false;
  unseen_time = 0;
  python::restore_interval();
}

}  // namespace stack_sampler

namespace python {
namespace {

// (listener, nanoseconds): is called with the time in `opaque` since its last call. None: is not
// called any more.
Object* sample_lines(Object*, Object* const* given, Size count) {
  if (count != 2) return refuse("sample_lines takes two arguments");
  const std::int64_t every_ns = api().PyLong_AsLongLong(given[1]);
  if (api().PyErr_Occurred() != nullptr) return nullptr;
  Object* before = stack_sampler::listener;
  stack_sampler::listener = given[0] == api()._Py_NoneStruct ? nullptr : new_reference(given[0]);
  let_go(before);
  PageRings* rings = membership().rings();
  if (stack_sampler::listener == nullptr)
    stack_sampler::end();
  else if (rings != nullptr)
    stack_sampler::begin(every_ns, rings->current_work);
  return new_reference(api()._Py_NoneStruct);
}

}  // namespace

bool add_sample_lines(Object* dictionary) {
  static MethodDef def = {"sample_lines", reinterpret_cast<void*>(sample_lines), kFastCall,
                          nullptr};
  return add(dictionary, def);
}

}  // namespace python
}  // namespace loaderscope::guest
