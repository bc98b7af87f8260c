// One process of a measured job, seen from the host: its line, its page, and what it said of
// itself, which is set by the host.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.h"
#include "guest/host/message_contents.h"
#include "guest/protocol/page.h"

namespace loaderscope::guest {

class GuestProcess : public Hello {
 public:
  // Takes over the connection.
  explicit GuestProcess(int line) : line_(line) {}
  ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  // The next thing that it has said; nothing where it has said no more. With the first message,
  // which says who it is, comes the memory of its page.
  std::optional<std::string> listen();
  bool take_page();  // false: no page came, or one that is no page of ours
  // Its line is closed, and it is gone: a program may close what it does not know.
  bool ended() const;
  bool has_line() const { return line_ >= 0; }
  Page* page() const { return page_; }
  // What its page carries cannot be what our hooks have written: it is not read any more.
  void mark_corrupt() { is_distrusted_ = true; }
  bool is_distrusted() const { return is_distrusted_; }
  void disconnect();
  void ask_to_stop();
  void time_stages(bool on);
  std::int64_t lost() const;

  // Which process trains: it, or the one that it works for.
  pid_t training_process() const { return is_worker ? trainer : pid; }

  bool is_read_to_end = false;  // its page, after it had ended; set by whoever reads it
  Nanos own_seen = 0;           // what its page said last of our own code; set likewise
  Nanos own_seen_at = 0;        // 0: it was not looked at yet

 private:
  int line_;
  Fd memory_;  // of the page, until it is taken
  Page* page_ = nullptr;
  bool is_distrusted_ = false;
};

}  // namespace loaderscope::guest
