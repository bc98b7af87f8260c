#include "probe/timed_stop.h"

#include <chrono>

namespace loaderscope::probe {

TimedStop::TimedStop(const std::atomic<int>& stop, Nanos at)
    : own_(stop.load()), thread_([this, &stop, at] { watch(stop, at); }) {}

TimedStop::~TimedStop() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void TimedStop::watch(const std::atomic<int>& stop, Nanos at) {
  constexpr auto kPoll = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  while (!has_ended_) {
    const int asked = stop.load(std::memory_order_relaxed);
    if (asked == 0 && monotonic_now() >= at) late_.store(true);
    if (asked != 0 || late_.load()) {
      own_.store(asked != 0 ? asked : 1);
      return;
    }
    changed_.wait_for(lock, kPoll);
  }
}

}  // namespace loaderscope::probe
