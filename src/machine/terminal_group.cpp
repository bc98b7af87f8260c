#include "machine/terminal_group.h"

#include <fcntl.h>

#include <atomic>

#include "base/fd.h"

namespace loaderscope {
namespace {

std::atomic<bool> is_of_terminal{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

bool has_controlling_terminal() {
  return Fd(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0;
}

// Other processes send with SI_USER, SI_QUEUE or SI_TKILL.
void note_sender(const siginfo_t& sender) { is_of_terminal.store(sender.si_code == SI_KERNEL); }

bool was_sent_by_terminal() { return is_of_terminal.load(); }

}  // namespace loaderscope
