// This process as a member of the measured job: its page and its line to the host.
#pragma once

#include <sys/types.h>

#include "engine/guest/page.h"

namespace loaderscope::guest {

class Membership {
 public:
  int join(const char* socket_path, const char* hello);  // 0 or errno; once per process
  void say(const char* message) const;
  Page* page() const { return page_; }
  // In the child of a fork: the line and the page are the parent's.
  void forget();

 private:
  bool has_line() const;  // false also where the program has closed it: the number may be another's

  int socket_ = -1;
  ino_t identity_ = 0;  // of the socket
  Page* page_ = nullptr;
};

}  // namespace loaderscope::guest
