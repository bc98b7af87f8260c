// Text about the end of a process.
#include "base/failure_text.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace loaderscope {
namespace {

template <typename Body>
int status_after(const Body& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

int killed_by(int signal) {
  return status_after([signal] {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  });
}

TEST(ProcessEnd, NamesExitCode) {
  EXPECT_EQ(describe_exit(status_after([] { ::_exit(3); })), "ended with exit code 3");
  EXPECT_EQ(describe_exit(status_after([] {})), "ended with exit code 0");
}

TEST(ProcessEnd, NamesSignalByNumberAndName) {
  EXPECT_EQ(describe_exit(killed_by(SIGKILL)), "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(describe_exit(killed_by(SIGTERM)), "was killed by signal 15 (SIGTERM)");
}

TEST(ProcessEnd, GivesNumberOfSignalWithoutName) {
  EXPECT_EQ(describe_exit(killed_by(SIGRTMIN + 1)),
            "was killed by signal " + std::to_string(SIGRTMIN + 1));
}

}  // namespace
}  // namespace loaderscope
