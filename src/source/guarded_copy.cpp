#include "source/guarded_copy.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "source/readers.h"

namespace loaderscope::source {
namespace {

#ifdef __SANITIZE_THREAD__  // whose own memcpy does not let go of a signal: the kernel copies
bool watch_for_bus_errors() { return true; }
bool copied_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const iovec target{to, bytes};
  const iovec origin{const_cast<std::byte*>(from), bytes};
  return ::process_vm_readv(::getpid(), &target, 1, &origin, 1, 0) == static_cast<ssize_t>(bytes);
}
#else
// What this thread copies from.
struct Guarded {
  std::uintptr_t begin = 0, end = 0;  // equal: it copies nothing
  sigjmp_buf stopped;
};
thread_local Guarded guarded;
struct sigaction before;

// Back into the copy, or to whoever was to handle the signal before: the access is repeated.
void on_bus_error(int, siginfo_t* facts, void*) {
  const auto place = reinterpret_cast<std::uintptr_t>(facts->si_addr);
  if (place >= guarded.begin / kPage * kPage && place < guarded.end)
    siglongjmp(guarded.stopped, 1);  // the signal is not blocked meanwhile: SA_NODEFER
  ::sigaction(SIGBUS, &before, nullptr);
}

bool watch_for_bus_errors() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &before) == 0;
}

bool copied_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  if (sigsetjmp(guarded.stopped, 0) != 0) {
    guarded.begin = guarded.end = 0;
    return false;
  }
  guarded.begin = begin;
  guarded.end = begin + bytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(to, from, bytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded.begin = guarded.end = 0;
  return true;
}
#endif

}  // namespace

std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from) {
  static const bool watched = watch_for_bus_errors();
  if (!watched) return 0;
  if (copied_whole(to.data(), from, to.size())) return to.size();
  // Page by page up to the one that is missing.
  std::size_t done = 0;
  while (done < to.size()) {
    const std::size_t in_page = (reinterpret_cast<std::uintptr_t>(from) + done) % kPage;
    const std::size_t piece = std::min(kPage - in_page, to.size() - done);
    if (!copied_whole(to.data() + done, from + done, piece)) break;
    done += piece;
  }
  return done;
}

}  // namespace loaderscope::source
