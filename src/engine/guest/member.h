// One process of a measured job, seen from the host: its line, its page, and what it said of
// itself.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "engine/guest/page.h"

namespace loaderscope::guest {

class Member {
 public:
  // Takes over the connection.
  explicit Member(int line) : line_(line) {}
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // What it has said since the last call. The first message says who it is, and is answered with
  // the page.
  std::vector<std::string> listen();
  bool give_page();  // false: no memory, or the process is gone
  // Its line is closed, and it is gone: a program may close what it does not know.
  bool ended() const;
  Page* page() const { return page_; }
  void hang_up();
  void ask_to_stop();
  void time_stages(bool on);
  std::int64_t lost() const;

  // Who it is; set by the host.
  pid_t pid = 0;
  bool is_worker = false;
  std::int32_t rank = 0;
  std::int32_t worker = 0;
  pid_t trainer = 0;           // of a worker: for which process it works
  std::int32_t iterator = -1;  // of the trainer, that a worker makes batches for

 private:
  int line_;
  Page* page_ = nullptr;
};

}  // namespace loaderscope::guest
