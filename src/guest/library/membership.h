// This process as a member of the measured job: its page and its connection to the host. No call
// waits for the host for longer than a few milliseconds, even if the host is stopped or slow.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "guest/protocol/page.h"

namespace loaderscope::guest {

// Own time of the guest in ns that no clock reading shows: of a hook that ends with a clock
// reading, and of a hook without one.
inline constexpr Nanos kThereAndBack = 300, kCallCost = 800;

class Membership {
 public:
  // 0 or an errno; once per process, and not again with a host that takes no one in (EAGAIN). The
  // host may turn the process away later. What it reports is then lost.
  int join(const char* socket_path, const char* hello);
  // Sends messages in order. A host that accepts no data for long gets no more messages.
  void say(const char* message);
  // Requests of the host. Before joining, the program continues and stages are timed.
  bool must_stop() const;
  bool timing_wanted() const;
  // Adds own time of the guest. Call from one thread at a time, like all writers.
  void took(Nanos duration);
  // Rings for reports; null before joining.
  PageRings* rings() { return rings_ ? &*rings_ : nullptr; }
  void leave();  // also in the child of a fork: the connection and the page belong to the parent

 private:
  int try_to_join(const char* socket_path, const char* hello);
  bool has_line() const;  // false also where the program has closed it: the number may be another's
  void send_unsent();
  bool wait_for_room();

  int socket_ = -1;
  ino_t identity_ = 0;  // inode of the socket
  bool is_full_ = false;
  Page* page_ = nullptr;
  std::optional<PageRings> rings_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool is_slow_ = false;  // the host, when it was waited for last
};

}  // namespace loaderscope::guest
