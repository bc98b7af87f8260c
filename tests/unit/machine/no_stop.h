// For work that nobody stops.
#pragma once

#include <atomic>

namespace loaderscope::test {

inline const std::atomic<int> kNoStop{0};

}  // namespace loaderscope::test
