// One process of a measured job, seen from the host: its connection, its page, and its first
// message, which the host fills in.
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

  // Returns the next message, or nothing if no message is waiting. The memory of the page arrives
  // with the first message, which identifies the process.
  std::optional<std::string> listen();
  bool take_page();  // false: no page came, or its content is not a page
  // Returns true if the connection is closed and the process has ended. A program may close
  // descriptors that it does not know, and keep running.
  bool ended() const;
  bool has_line() const { return line_ >= 0; }
  Page* page() const { return page_; }
  // Marks the page as corrupt: the hooks cannot have written its content. It is not read any more.
  void mark_corrupt() { is_distrusted_ = true; }
  bool is_distrusted() const { return is_distrusted_; }
  void disconnect();
  void ask_to_stop();
  void time_stages(bool on);
  std::int64_t lost() const;

  // Returns the process that trains: this one, or the one that it works for.
  pid_t training_process() const { return is_worker ? trainer : pid; }

  bool is_read_to_end = false;  // the page was read after the process ended; set by the reader
  Nanos own_seen = 0;  // own time of the guest at the last reading of the page; set by the reader
  Nanos own_seen_at = 0;  // 0: not read yet

 private:
  int line_;
  Fd memory_;  // memory of the page, until take_page()
  Page* page_ = nullptr;
  bool is_distrusted_ = false;
};

}  // namespace loaderscope::guest
