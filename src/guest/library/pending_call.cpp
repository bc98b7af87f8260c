#include "guest/library/pending_call.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "guest/library/python_abi.h"

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
