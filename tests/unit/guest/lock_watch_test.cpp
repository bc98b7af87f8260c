#include "guest/host/lock_watch.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace loaderscope::guest {
namespace {

const InterpreterState kState = {0x1000, 0x100};

std::string sleeping_on(long call, const std::string& address) {
  return std::to_string(call) + " " + address + " 0x189 0x0 0x7ffd 0x0 0x0 0x7ffe 0x7fff";
}

TEST(LockWatch, FindsLockOnlyInInterpreterState) {
  EXPECT_TRUE(is_lock_wait(sleeping_on(SYS_futex, "0x1000"), kState));
  EXPECT_TRUE(is_lock_wait(sleeping_on(SYS_futex, "0x10ff"), kState));
  EXPECT_FALSE(is_lock_wait(sleeping_on(SYS_futex, "0x1100"), kState));
  EXPECT_FALSE(is_lock_wait(sleeping_on(SYS_futex, "0xfff"), kState));
  EXPECT_FALSE(is_lock_wait(sleeping_on(SYS_read, "0x1000"), kState));
  EXPECT_FALSE(is_lock_wait("running", kState));
  EXPECT_FALSE(is_lock_wait("", kState));
}

TEST(LockWatch, ReportsNoMetricWithoutKnownLock) {
  LockWatch watch;
  watch.look(::getpid(), true);
  watch.know(::getpid(), {0, 0});
  watch.look(::getpid(), true);
  EXPECT_TRUE(watch.metrics().empty());
  EXPECT_FALSE(watch.unknown().empty());
}

TEST(LockWatch, CountsNoWaitOfRunningThread) {
  LockWatch watch;
  watch.know(::getpid(), kState);
  watch.look(::getpid(), true);
  if (!watch.unknown().empty()) GTEST_SKIP() << watch.unknown();
  ASSERT_EQ(watch.metrics().size(), 1U);
  EXPECT_EQ(watch.metrics().front().name, "gil.worker_wait_share");
  EXPECT_EQ(watch.metrics().front().value, 0);
}

}  // namespace
}  // namespace loaderscope::guest
