#include "nvtx/window.h"

#include <dlfcn.h>

#include "nvtx/library.h"

namespace loaderscope::nvtx {
namespace {

// cuProfilerStart or cuProfilerStop, which cudaProfilerStart and -Stop lead to, of the driver where
// it is in use already; otherwise nothing.
void tell_driver(const char* function) {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return;
  // A process without a context says so in its result; there is nothing to capture then.
  if (const auto call = reinterpret_cast<int (*)()>(::dlsym(driver, function))) call();
  ::dlclose(driver);
}

}  // namespace

void Window::begin() {
  if (state_ != State::before) return;
  state_ = State::open;
  tell_driver("cuProfilerStart");
  if (attached()) range_ = library::start_range(Label(Activity::window).index());
}

void Window::end() {
  if (state_ != State::open) return;
  state_ = State::over;
  if (attached()) library::end_range(range_);
  tell_driver("cuProfilerStop");
}

}  // namespace loaderscope::nvtx
