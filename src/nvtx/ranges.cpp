#include "nvtx/ranges.h"

#include <dlfcn.h>
#include <pthread.h>

#include <mutex>

#include "nvtx/library.h"

namespace loaderscope::nvtx {
namespace {

constexpr std::array<const char*, kActivities> kActivityNames = {
    "wait for batch", "submit copy", "submit work", "wait copied",
    "wait computed",  "handled",     "window"};
constexpr std::size_t kMaxThreadName = 15;  // limit of Linux

}  // namespace

void connect() {
  static std::once_flag once;
  std::call_once(once, [] { detail::attached.store(library::connect()); });
}

std::string name_of_label(std::size_t index) {
  if (index >= kStages) return kActivityNames[index - kStages];
  return std::string(name_of(static_cast<Stage>(index)));
}

void push(Label label, const Payload& payload) {
  if (attached()) library::push(label.index(), payload);
}

void pop() {
  if (attached()) library::pop();
}

void mark(Label label, const Payload& payload) {
  if (attached()) library::mark(label.index(), payload);
}

Counter::Counter(const std::string& name) : known_(attached()) {
  if (!known_) return;
  id_ = library::register_counter(name.c_str());
  if (id_ == 0) mark_name_ = library::register_name(name.c_str());
}

void Counter::show(std::int64_t value) const {
  if (id_ != 0) {
    library::sample_counter(id_, value);
  } else {
    library::mark_value(mark_name_, value);
  }
}

void name_thread(const std::string& role, std::int32_t rank) {
  const std::string number = std::to_string(rank);
  const std::string name = rank < 0 ? role : role + " rank " + number;
  const std::string short_name = name.size() <= kMaxThreadName ? name : role + " r" + number;
  ::pthread_setname_np(::pthread_self(), short_name.substr(0, kMaxThreadName).c_str());
  if (attached()) library::name_thread(name.c_str());
}

namespace {

// cuProfilerStart or cuProfilerStop, which cudaProfilerStart and -Stop lead to, of the driver where
// it is in use already; otherwise nothing.
void call_driver(const char* function) {
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
  call_driver("cuProfilerStart");
  if (attached()) range_ = library::start_range(Label(Activity::window).index());
}

void Window::end() {
  if (state_ != State::open) return;
  state_ = State::over;
  if (attached()) library::end_range(range_);
  call_driver("cuProfilerStop");
}

namespace {

std::optional<std::string> without_nvtx() {
  if (library::built()) return std::nullopt;
  return "built without NVTX 3; install the CUDA toolkit, whose headers it is part of, and build "
         "again.";
}

}  // namespace

std::span<const TraceRow> trace_table() {
  static const std::array<TraceRow, 1> kTable = {{
      {{"nvtx",
        "Mark the work of each thread, batches, bytes, queue depths and the window as NVTX ranges. "
        "Nsight Systems and other NVTX tools show them.",
        without_nvtx}},
  }};
  return kTable;
}

}  // namespace loaderscope::nvtx
