// This process as a member of the measured job: its page and its line to the host. No call waits
// for the host, which may be stopped or slow, for longer than a few milliseconds.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "guest/protocol/page.h"

namespace loaderscope::guest {

// ns of our own code that no clock reading shows: of a hook that ends with one, and of one that has
// none.
inline constexpr Nanos kThereAndBack = 300, kOfCall = 800;

class Membership {
 public:
  // 0 or an errno; once per process, and not again with a host that takes no one in (EAGAIN). The
  // host may turn the process away later. What it reports is then lost.
  int join(const char* socket_path, const char* hello);
  // In order. A host that takes in nothing for long gets no more messages.
  void say(const char* message);
  // What the host wants; before it has joined that the program goes on, and stages are timed.
  bool must_stop() const;
  bool timing_wanted() const;
  // Our own code has taken so long. One thread at a time, as all that writes.
  void took(Nanos duration);
  // What it reports by; null before it has joined.
  PageRings* rings() { return rings_ ? &*rings_ : nullptr; }
  void leave();  // also in the child of a fork: the line and the page are the parent's

 private:
  int try_to_join(const char* socket_path, const char* hello);
  bool has_line() const;  // false also where the program has closed it: the number may be another's
  void send_unsent();
  bool wait_for_room();

  int socket_ = -1;
  ino_t identity_ = 0;  // of the socket
  bool is_full_ = false;
  Page* page_ = nullptr;
  std::optional<PageRings> rings_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool is_slow_ = false;  // the host, when it was waited for last
};

}  // namespace loaderscope::guest
