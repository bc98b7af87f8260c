// Self-test of the facts that RescheduleDetector relies on.
#pragma once

#include <cstdint>
#include <functional>

namespace loaderscope {

// Returns true if each of ten sleeps changes the value of `number`, as a thread that sleeps leaves
// its core.
bool ends_with_sleeps(const std::function<std::uint64_t()>& number,
                      const std::function<void()>& sleep);

}  // namespace loaderscope
