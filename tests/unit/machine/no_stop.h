// Stop flag for work that runs to its end.
#pragma once

#include <atomic>

namespace loaderscope::test {

inline const std::atomic<int> kNoStop{0};

}  // namespace loaderscope::test
