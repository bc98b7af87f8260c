// The classes of samples, for any source that knows them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "source/registry.h"

namespace loaderscope::dataset {

// Passes the class of each of `samples` samples to `see`, in order. Returns whether all have a
// class. Otherwise, the passed classes are meaningless. Throws RunError if the parameters after the
// path select classes that are not available.
bool for_each_class(const DataText& data, std::int64_t samples, const std::atomic<int>* stop_signal,
                    const std::function<void(std::string_view)>& see);

// Returns the class number of each sample, as stored or as the rank of its name. Empty unless all
// samples have a class. Throws RunError, too.
std::vector<std::int32_t> class_numbers(const DataText& data, std::int64_t samples,
                                        const std::atomic<int>* stop_signal);

}  // namespace loaderscope::dataset
