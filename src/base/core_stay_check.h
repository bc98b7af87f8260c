// What a core stay relies on, tried before it is used.
#pragma once

#include <cstdint>
#include <functional>

namespace loaderscope {

// Whether each of ten sleeps changes what `number` gives: a thread that sleeps leaves its core.
bool ends_with_sleeps(const std::function<std::uint64_t()>& number,
                      const std::function<void()>& sleep);

}  // namespace loaderscope
