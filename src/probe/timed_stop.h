// A stop for work that may hang.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/thread_meter.h"

namespace loaderscope::probe {

// Passes a stop of the user on, and stops by itself at a time. Its thread polls every 20 ms.
class TimedStop {
 public:
  TimedStop(const std::atomic<int>& stop, Nanos at);
  ~TimedStop();
  TimedStop(const TimedStop&) = delete;
  TimedStop& operator=(const TimedStop&) = delete;

  const std::atomic<int>& stop() const { return own_; }
  bool is_late() const { return late_.load(); }  // the time has come, and no stop of the user

 private:
  void watch(const std::atomic<int>& stop, Nanos at);

  std::atomic<int> own_{0};
  std::atomic<bool> late_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace loaderscope::probe
