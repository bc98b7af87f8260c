#include "source/guarded_copy.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>

#include "source/readers.h"

namespace loaderscope::source {
namespace {

// Address range that this thread may fail to read.
struct Guarded {
  std::uintptr_t begin = 0, end = 0;  // equal: nothing is guarded
  sigjmp_buf stopped;
};
thread_local Guarded guarded;
struct sigaction before_bus, before_segv;

// Returns to the guarded code, or restores the earlier handlers. The access is then repeated.
void on_failed_access(int signal, siginfo_t* facts, void*) {
  const auto place = reinterpret_cast<std::uintptr_t>(facts->si_addr);
  if (place >= guarded.begin / kPage * kPage && place < guarded.end)
    siglongjmp(guarded.stopped, 1);  // the signal is not blocked meanwhile: SA_NODEFER
  ::sigaction(signal, signal == SIGBUS ? &before_bus : &before_segv, nullptr);
}

bool watch_for_failed_accesses() {
  struct sigaction action {};
  action.sa_sigaction = on_failed_access;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &before_bus) == 0 &&
         ::sigaction(SIGSEGV, &action, &before_segv) == 0;
}

bool is_watched() {
  static const bool watched = watch_for_failed_accesses();
  return watched;
}

template <class Action>
bool ends_guarded(std::uintptr_t begin, std::uintptr_t end, const Action& action) {
  if (sigsetjmp(guarded.stopped, 0) != 0) {
    guarded.begin = guarded.end = 0;
    return false;
  }
  guarded.begin = begin;
  guarded.end = end;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  action();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded.begin = guarded.end = 0;
  return true;
}

#ifdef __SANITIZE_THREAD__  // sanitizer's memcpy delays signals, so the kernel copies
bool copied_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const iovec target{to, bytes};
  const iovec origin{const_cast<std::byte*>(from), bytes};
  return ::process_vm_readv(::getpid(), &target, 1, &origin, 1, 0) == static_cast<ssize_t>(bytes);
}
#else
bool copied_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  return ends_guarded(begin, begin + bytes, [&] { std::memcpy(to, from, bytes); });
}
#endif

}  // namespace

bool call_guarded(const std::function<void()>& call) {
  return is_watched() && ends_guarded(0, std::numeric_limits<std::uintptr_t>::max(), call);
}

void give_up_guarded() {
  if (guarded.end != 0) siglongjmp(guarded.stopped, 1);
}

std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from) {
  if (!is_watched()) return 0;
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
