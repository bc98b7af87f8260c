#include "machine/child_process.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/thread_meter.h"

namespace loaderscope {
namespace {

// True once that child of this process has ended, which it must within 20 seconds.
bool has_ended(pid_t process) {
  const Nanos until = monotonic_now() + 20 * kSecond;
  while (::waitpid(process, nullptr, WNOHANG) == 0) {
    if (monotonic_now() > until) return false;
    ::usleep(10'000);
  }
  return true;
}

// A process that starts a command and reports its number to `pipe`.
pid_t start_parent(int pipe) {
  const pid_t parent = ::fork();
  if (parent != 0) return parent;
  const ChildProcess command({"/bin/sleep", "600"}, {}, STDERR_FILENO);
  const pid_t number = command.pid();
  static_cast<void>(::write(pipe, &number, sizeof number));
  for (;;) ::pause();
}

TEST(ChildProcess, EndsWithKilledParent) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // the command becomes a child of this process
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = start_parent(ends[1]);
  pid_t command = -1;
  ASSERT_EQ(::read(ends[0], &command, sizeof command), ssize_t{sizeof command});
  ::kill(parent, SIGKILL);
  EXPECT_TRUE(has_ended(parent));
  EXPECT_TRUE(has_ended(command));
  ::kill(command, SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace loaderscope
