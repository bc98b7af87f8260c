// The classes of samples, of any source that knows them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "source/registry.h"

namespace loaderscope::dataset {

// Shows of each of `samples` samples what its class is called, in their order, and returns whether
// all have one: else what was shown means nothing. Throws RunError where the words behind the path
// say which classes are meant, and these cannot be had.
bool for_each_class(const DataText& data, std::int64_t samples, const std::atomic<int>* stop_signal,
                    const std::function<void(std::string_view)>& see);

// Of each sample the number of its class, as it is stored or as names sort; none where not all have
// one. Throws RunError likewise.
std::vector<std::int32_t> class_numbers(const DataText& data, std::int64_t samples,
                                        const std::atomic<int>* stop_signal);

}  // namespace loaderscope::dataset
