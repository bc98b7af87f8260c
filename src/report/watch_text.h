// Words for what is watched.
#pragma once

#include <string>

#include "watch/watch.h"

namespace loaderscope::watch {

// "worker 3 (4711)", or "worker 0.3 (4711)" where the job has several ranks.
std::string process_title(const WatchedProcess& process, bool has_ranks);

}  // namespace loaderscope::watch
