// A process of a measured job.
#pragma once

#include <sys/types.h>

namespace loaderscope::guest {

struct JobProcess {
  pid_t pid = 0;
  bool is_worker = false;
};

}  // namespace loaderscope::guest
