#include "trace/trace.h"

#include <pthread.h>

#include <mutex>

#include "trace/nvtx.h"

namespace loaderscope::trace {
namespace {

constexpr std::array<const char*, kActivities> kActivityNames = {
    "wait for batch", "submit copy", "wait copied", "wait computed", "handled", "window"};
constexpr std::size_t kLongestThreadName = 15;  // that Linux keeps

}  // namespace

void connect() {
  static std::once_flag once;
  std::call_once(once, [] { detail::attached.store(nvtx::connect()); });
}

std::string name_of_label(std::size_t index) {
  if (index >= kStages) return kActivityNames[index - kStages];
  return std::string(name_of(static_cast<Stage>(index)));
}

void push(Label label, const Payload& payload) {
  if (attached()) nvtx::push(label.index(), payload);
}

void pop() {
  if (attached()) nvtx::pop();
}

void mark(Label label, const Payload& payload) {
  if (attached()) nvtx::mark(label.index(), payload);
}

Counter::Counter(const std::string& name) : known_(attached()) {
  if (!known_) return;
  id_ = nvtx::register_counter(name.c_str());
  if (id_ == 0) mark_name_ = nvtx::register_name(name.c_str());
}

void Counter::show(std::int64_t value) const {
  if (id_ != 0) {
    nvtx::sample_counter(id_, value);
  } else {
    nvtx::mark_value(mark_name_, value);
  }
}

void name_thread(const std::string& role, std::int32_t rank) {
  const std::string number = std::to_string(rank);
  const std::string name = rank < 0 ? role : role + " rank " + number;
  const std::string short_name = name.size() <= kLongestThreadName ? name : role + " r" + number;
  ::pthread_setname_np(::pthread_self(), short_name.substr(0, kLongestThreadName).c_str());
  if (attached()) nvtx::name_thread(name.c_str());
}

}  // namespace loaderscope::trace
