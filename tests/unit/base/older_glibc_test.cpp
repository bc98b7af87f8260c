// The functions for an older glibc, under other names, against those of this machine's glibc.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <sys/rseq.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <set>

#define __rseq_offset older_rseq_offset
#define __rseq_size older_rseq_size
#define sigabbrev_np older_sigabbrev_np
#define __libc_single_threaded older_single_threaded
#define arc4random older_arc4random
#define _dl_find_object older_find_object
#define pthread_cond_clockwait older_cond_clockwait
#define gettid older_gettid
#include "older_glibc.cpp"
#undef __rseq_offset
#undef __rseq_size
#undef sigabbrev_np
#undef __libc_single_threaded
#undef arc4random
#undef _dl_find_object
#undef pthread_cond_clockwait
#undef gettid

namespace loaderscope {
namespace {

TEST(OlderGlibc, NamesSignalsAsGlibcDoes) {
  for (int signal = -1; signal <= 32; ++signal) {
    EXPECT_STREQ(older_sigabbrev_np(signal), ::sigabbrev_np(signal)) << signal;
  }
}

TEST(OlderGlibc, FindsObjectsAsGlibcDoes) {
  for (void* const address : {reinterpret_cast<void*>(&older_sigabbrev_np),
                              ::dlsym(RTLD_DEFAULT, "getenv"), ::dlsym(RTLD_DEFAULT, "cos")}) {
    dl_find_object found{};
    dl_find_object expected{};
    ASSERT_EQ(older_find_object(address, &found), 0);
    ASSERT_EQ(::_dl_find_object(address, &expected), 0);
    EXPECT_EQ(found.dlfo_eh_frame, expected.dlfo_eh_frame);
  }
  int on_the_stack = 0;
  dl_find_object found{};
  EXPECT_EQ(older_find_object(&on_the_stack, &found), -1);
}

TEST(OlderGlibc, ReadsVariablesOfNewerVersion) {
  EXPECT_EQ(older_rseq_offset, ::__rseq_offset);
  EXPECT_EQ(older_rseq_size, ::__rseq_size);
  EXPECT_EQ(read_variable<int>("loaderscope_has_no_such_variable"), 0);
}

TEST(OlderGlibc, MovesDeadlineToWallClock) {
  timespec steady{};
  timespec before{};
  timespec after{};
  ::clock_gettime(CLOCK_REALTIME, &before);
  ::clock_gettime(CLOCK_MONOTONIC, &steady);
  steady.tv_sec += 3600;
  const timespec moved = realtime_deadline(CLOCK_MONOTONIC, steady);
  ::clock_gettime(CLOCK_REALTIME, &after);
  EXPECT_GE(moved.tv_nsec, 0);
  EXPECT_LT(moved.tv_nsec, 1'000'000'000);
  EXPECT_GE(moved.tv_sec, before.tv_sec + 3599);
  EXPECT_LE(moved.tv_sec, after.tv_sec + 3601);
}

TEST(OlderGlibc, EndsWaitAtPastDeadline) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const timespec past{1, 0};
  ::pthread_mutex_lock(&mutex);
  EXPECT_EQ(older_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past), ETIMEDOUT);
  ::pthread_mutex_unlock(&mutex);
}

TEST(OlderGlibc, DrawsDifferentNumbers) {
  std::set<std::uint32_t> drawn;
  for (int i = 0; i < 8; ++i) drawn.insert(older_arc4random());
  EXPECT_GT(drawn.size(), 4U);
  EXPECT_EQ(older_gettid(), ::gettid());
}

}  // namespace
}  // namespace loaderscope
