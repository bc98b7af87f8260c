// Counts of Python's opens and listings in this process, from an audit hook. Libraries that open
// files on their own are not counted.
#pragma once

#include <cstdint>

namespace loaderscope::guest::open_counter {

enum class What : std::uint8_t { files, modules, listings, batches, kCount };

void count(What what);
std::int64_t counted(What what);  // 0 if never counted
void forget();                    // drops the parent's counts in the child of a fork

}  // namespace loaderscope::guest::open_counter
