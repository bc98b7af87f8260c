// Threads that share one job, while the calling thread shows their progress.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>

namespace loaderscope {

class ThreadTeam {
 public:
  // `stop_signal` may be null.
  explicit ThreadTeam(const std::atomic<int>* stop_signal) : stop_signal_(stop_signal) {}

  // Members call this between two pieces of work, and end if it returns true.
  bool stopping() const {
    return failed_.load(std::memory_order_relaxed) || (stop_signal_ && stop_signal_->load() != 0);
  }

  // Calls `work` in `threads` threads (0: one per core) and `show` every tenth of a second and at
  // the end. The first exception of a member stops all and is thrown here.
  void run(int threads, const std::function<void()>& work, const std::function<void()>& show);

  // Runs `lead` in the calling thread while the members run `work`.
  void run_concurrently(int threads, const std::function<void()>& work,
                        const std::function<void()>& lead);

 private:
  void guarded(const std::function<void()>& work);

  const std::atomic<int>* stop_signal_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;  // first exception
};

}  // namespace loaderscope
