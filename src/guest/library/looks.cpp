#include "guest/library/looks.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace loaderscope::guest::looks {
namespace {

std::atomic<std::int64_t> looked_at{0};  // ns
std::atomic<pid_t> runs_in{0};           // the child of a fork has no such thread
std::mutex turn;

void run(pthread_t maker, int signal, std::int64_t every_ns, Doing& doing) {
  constexpr auto kOpaque = static_cast<std::int64_t>(Stage::opaque);
  while (true) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(every_ns));
    const std::lock_guard lock(turn);
    if (runs_in == 0) return;
    if (doing.stage.load(std::memory_order_relaxed) != kOpaque) continue;
    looked_at += every_ns;
    doing.looks.fetch_add(1, std::memory_order_relaxed);
    pthread_kill(maker, signal);
  }
}

}  // namespace

// Signals of the program are handled by threads of its own.
void begin(int signal, std::int64_t every_ns, Doing& doing) {
  const pid_t process = getpid();
  if (runs_in.exchange(process) == process) return;
  looked_at = 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(run, pthread_self(), signal, every_ns, std::ref(doing)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void end() {
  const std::lock_guard lock(turn);
  runs_in = 0;
}

std::int64_t take_ns() { return looked_at.exchange(0); }

}  // namespace loaderscope::guest::looks
