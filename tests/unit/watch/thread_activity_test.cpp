// Activity of a thread, derived from its state, its system call and its place in the kernel.
#include "watch/thread_activity.h"

#include <gtest/gtest.h>

#include <string>

namespace loaderscope::watch {
namespace {

struct Case {
  char state;
  SystemCall call;
  bool is_call_known;
  const char* wchan;
  ThreadActivity doing;
};

SystemCall call(std::string_view name, CallKind kind, const std::string& object = "",
                bool is_socket = false) {
  return {name, kind, object, is_socket};
}

TEST(WatchDoing, DerivesActivityFromStateCallAndPlace) {
  const Case cases[] = {
      {'R', {}, true, "", ThreadActivity::runs},
      {'T', call("read", CallKind::reads, "/a"), true, "", ThreadActivity::stopped},
      {'D', call("pread", CallKind::reads, "/a"), true, "folio_wait_bit_common",
       ThreadActivity::storage},
      {'D', {}, true, "rwsem_down_read_slowpath", ThreadActivity::lock},
      {'S', call("poll", CallKind::polls, "pipe:[7]"), true, "", ThreadActivity::queue},
      {'S', call("poll", CallKind::polls, "socket:[7]", true), true, "", ThreadActivity::network},
      {'S', call("read", CallKind::reads, "pipe:[7]"), true, "", ThreadActivity::queue},
      {'S', call("read", CallKind::reads, "/data/a.jpg"), true, "", ThreadActivity::storage},
      {'S', call("recv", CallKind::reads, "socket:[7]", true), true, "", ThreadActivity::network},
      {'S', call("recvmsg", CallKind::reads, "socket:[7]", true), true, "", ThreadActivity::queue},
      {'S', call("open", CallKind::opens, "/mnt/a"), true, "", ThreadActivity::storage},
      {'S', call("futex", CallKind::locks), true, "", ThreadActivity::lock},
      {'S', call("nanosleep", CallKind::sleeps), true, "", ThreadActivity::sleep},
      {'S', call("epoll_wait", CallKind::polls), true, "", ThreadActivity::other},
      {'S', {}, false, "anon_pipe_read", ThreadActivity::queue},
      {'S', {}, false, "poll_schedule_timeout.constprop.0", ThreadActivity::queue},
      {'S', {}, false, "futex_wait_queue", ThreadActivity::lock},
      {'S', {}, false, "hrtimer_nanosleep", ThreadActivity::sleep},
      {'S', {}, false, "sk_wait_data", ThreadActivity::network},
      {'S', {}, false, "", ThreadActivity::other},
  };
  for (const Case& one : cases)
    EXPECT_EQ(classify_doing(one.state, one.call, one.is_call_known, one.wchan), one.doing)
        << one.state << " " << one.call.name << " " << one.call.object << " " << one.wchan;
}

}  // namespace
}  // namespace loaderscope::watch
