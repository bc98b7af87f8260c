#include "base/thread_team.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <vector>

namespace loaderscope {

void ThreadTeam::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_ = true;
  }
}

void ThreadTeam::run_concurrently(int threads, const std::function<void()>& work,
                                  const std::function<void()>& lead) {
  const unsigned count = threads > 0 ? static_cast<unsigned>(threads)
                                     : std::max(1u, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> members;
    members.reserve(count);
    guarded([&] {  // a thread that cannot be started is a failure like another
      for (unsigned i = 0; i < count; ++i) members.emplace_back([&] { guarded(work); });
    });
    guarded(lead);
  }
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadTeam::run(int threads, const std::function<void()>& work,
                     const std::function<void()>& show) {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::condition_variable ended;
  int started = 0, finished = 0;
  bool all_ended = false;
  const auto counted = [&] {
    {
      const std::lock_guard lock(mutex);
      ++started;
    }
    guarded(work);
    const std::lock_guard lock(mutex);
    all_ended = ++finished == started;
    ended.notify_one();
  };
  run_concurrently(threads, counted, [&] {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, 100ms, [&] { return all_ended || failed_; })) {
      lock.unlock();
      show();
      lock.lock();
    }
    lock.unlock();
    show();
  });
}

}  // namespace loaderscope
