#include "guest/library/stack_sampler.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/thread_meter.h"
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
  python::release_reference(result);
  python::release_reference(called);
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
  release_reference(before);
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

namespace loaderscope::guest::python {
namespace {

// Returns 11 for "3.11.7 (main, ...".
int minor_version() {
  const char* text = api().Py_GetVersion();
  const char* point = std::strchr(text, '.');
  return point != nullptr ? std::atoi(point + 1) : 0;
}

// us. A waiting thread wakes as often, until the lock is given up. A program hardly chooses it.
constexpr unsigned long kShortest = 199;

// thread state in the interpreter; kept until the interpreter ends
thread_local void* own_state = nullptr;

// us; 0: it was never shortened. The child of a fork restores it, too.
std::atomic<unsigned long> interval_before{0};

// Shortens the interval for the next thread that asks for the lock. A program that changes it
// meanwhile keeps its change.
class ShortInterval {
 public:
  ShortInterval() {
    const unsigned long now = api()._PyEval_GetSwitchInterval();
    if (now == kShortest) return;  // an earlier thread ends, and restores it
    interval_before = now;
    api()._PyEval_SetSwitchInterval(kShortest);
  }
  ~ShortInterval() { restore_interval(); }
  ShortInterval(const ShortInterval&) = delete;
  ShortInterval& operator=(const ShortInterval&) = delete;
};

}  // namespace

bool call_soon(int (*function)(void*)) {
  static const bool looks_only_for_any_thread =
      minor_version() == 12 && api()._PyEval_AddPendingCall != nullptr;
  if (looks_only_for_any_thread)
    return api()._PyEval_AddPendingCall(api().PyInterpreterState_Main(), function, nullptr, 0) == 0;
  return api().Py_AddPendingCall(function, nullptr) == 0;
}

void prepare_to_look() {
  static const int minor = minor_version();
  if (minor < 9 || minor > 11 || api()._PyEval_SetSwitchInterval == nullptr ||
      api()._PyEval_GetSwitchInterval == nullptr || api().PyThreadState_New == nullptr ||
      api().PyInterpreterState_Main == nullptr || api().PyEval_AcquireThread == nullptr ||
      api().PyEval_ReleaseThread == nullptr)
    return;
  own_state = api().PyThreadState_New(api().PyInterpreterState_Main());
}

bool have_it_look() {
  if (own_state == nullptr) return false;
  const ShortInterval interval;
  api().PyEval_AcquireThread(own_state);
  api().PyEval_ReleaseThread(own_state);
  return true;
}

void restore_interval() {
  const unsigned long before = interval_before;
  if (before != 0 && api()._PyEval_GetSwitchInterval() == kShortest)
    api()._PyEval_SetSwitchInterval(before);
}

}  // namespace loaderscope::guest::python
