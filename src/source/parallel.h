// Waiting for files in many threads at once: most of the time goes to the storage, not to a core.
#pragma once

#include <cstdint>
#include <functional>

#include "source/options.h"

namespace loaderscope::source {

// Enough to keep a network file system busy, and few enough to start at once.
inline constexpr int kWaitingThreads = 16;

// Calls work(i) once for each i in [0, count), spread over threads. Throws what `work` throws, and
// RunError when it is stopped.
void for_each_index(std::int64_t count, std::string_view doing, const SourceContext& context,
                    const std::function<void(std::int64_t)>& work);

}  // namespace loaderscope::source
