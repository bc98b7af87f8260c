// What a thread is taken to do, by its state, its call, and where in the kernel it waits.
#include "experiment/watch/doing.h"

#include <gtest/gtest.h>

#include <string>

namespace loaderscope::watch {
namespace {

struct Case {
  char state;
  SystemCall call;
  bool is_call_known;
  const char* wchan;
  Doing doing;
};

SystemCall call(std::string_view name, CallKind kind, const std::string& object = "",
                bool is_socket = false) {
  return {name, kind, object, is_socket};
}

TEST(WatchDoing, IsReadOfStateCallAndPlace) {
  const Case cases[] = {
      {'R', {}, true, "", Doing::runs},
      {'T', call("read", CallKind::reads, "/a"), true, "", Doing::stopped},
      {'D', call("pread", CallKind::reads, "/a"), true, "folio_wait_bit_common", Doing::storage},
      {'D', {}, true, "rwsem_down_read_slowpath", Doing::lock},
      {'S', call("poll", CallKind::polls, "pipe:[7]"), true, "", Doing::queue},
      {'S', call("poll", CallKind::polls, "socket:[7]", true), true, "", Doing::network},
      {'S', call("read", CallKind::reads, "pipe:[7]"), true, "", Doing::queue},
      {'S', call("read", CallKind::reads, "/data/a.jpg"), true, "", Doing::storage},
      {'S', call("recv", CallKind::reads, "socket:[7]", true), true, "", Doing::network},
      {'S', call("recvmsg", CallKind::reads, "socket:[7]", true), true, "", Doing::queue},
      {'S', call("open", CallKind::opens, "/mnt/a"), true, "", Doing::storage},
      {'S', call("futex", CallKind::locks), true, "", Doing::lock},
      {'S', call("nanosleep", CallKind::sleeps), true, "", Doing::sleep},
      {'S', call("epoll_wait", CallKind::polls), true, "", Doing::other},
      {'S', {}, false, "anon_pipe_read", Doing::queue},
      {'S', {}, false, "poll_schedule_timeout.constprop.0", Doing::queue},
      {'S', {}, false, "futex_wait_queue", Doing::lock},
      {'S', {}, false, "hrtimer_nanosleep", Doing::sleep},
      {'S', {}, false, "sk_wait_data", Doing::network},
      {'S', {}, false, "", Doing::other},
  };
  for (const Case& one : cases)
    EXPECT_EQ(doing_of(one.state, one.call, one.is_call_known, one.wchan), one.doing)
        << one.state << " " << one.call.name << " " << one.call.object << " " << one.wchan;
}

}  // namespace
}  // namespace loaderscope::watch
