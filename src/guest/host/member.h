// One process of a measured job, seen from the host: its line, its page, and what it said of
// itself.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "guest/protocol/page.h"

namespace loaderscope::guest {

class Member {
 public:
  // Takes over the connection.
  explicit Member(int line) : line_(line) {}
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // The next thing that it has said; nothing where it has said no more. The first message says who
  // it is, and is answered with the page.
  std::optional<std::string> listen();
  bool give_page();  // false: no memory, or the process is gone
  // Its line is closed, and it is gone: a program may close what it does not know.
  bool ended() const;
  bool has_line() const { return line_ >= 0; }
  Page* page() const { return page_; }
  // What its page carries cannot be what our hooks have written: it is not read any more.
  void distrust() { is_distrusted_ = true; }
  bool is_distrusted() const { return is_distrusted_; }
  void hang_up();
  void ask_to_stop();
  void time_stages(bool on);
  std::int64_t lost() const;

  // Who it is; set by the host.
  pid_t pid = 0;
  bool is_worker = false;
  std::int32_t rank = 0;
  std::int32_t worker = 0;
  pid_t trainer = 0;            // of a worker: for which process it works
  std::int32_t iterator = -1;   // of the trainer, that a worker makes batches for
  bool is_read_to_end = false;  // its page, after it had ended; set by whoever reads it

 private:
  int line_;
  Page* page_ = nullptr;
  bool is_distrusted_ = false;
};

}  // namespace loaderscope::guest
