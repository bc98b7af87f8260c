#include "guest/library/pending_call.h"

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

// Shortens the interval for the next thread that asks for the lock. A program that changes it
// meanwhile keeps its change.
class ShortInterval {
 public:
  ShortInterval() : before_(api()._PyEval_GetSwitchInterval()) {
    api()._PyEval_SetSwitchInterval(kShortest);
  }
  ~ShortInterval() {
    if (api()._PyEval_GetSwitchInterval() == kShortest) api()._PyEval_SetSwitchInterval(before_);
  }
  ShortInterval(const ShortInterval&) = delete;
  ShortInterval& operator=(const ShortInterval&) = delete;

 private:
  // us. A waiting thread wakes as often, until the lock is given up.
  static constexpr unsigned long kShortest = 200;

  unsigned long before_;
};

}  // namespace

bool call_soon(int (*function)(void*)) {
  static const bool looks_only_for_any_thread =
      minor_version() == 12 && api()._PyEval_AddPendingCall != nullptr;
  if (looks_only_for_any_thread)
    return api()._PyEval_AddPendingCall(api().PyInterpreterState_Main(), function, nullptr, 0) == 0;
  return api().Py_AddPendingCall(function, nullptr) == 0;
}

bool have_it_look() {
  static const int minor = minor_version();
  if (minor < 9 || minor > 11 || api()._PyEval_SetSwitchInterval == nullptr ||
      api()._PyEval_GetSwitchInterval == nullptr)
    return false;
  const ShortInterval interval;
  api().PyGILState_Release(api().PyGILState_Ensure());
  return true;
}

}  // namespace loaderscope::guest::python
