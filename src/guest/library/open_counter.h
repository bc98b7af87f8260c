// What Python opens and lists in this process, seen by a hook of its own that it calls for each
// such event. What libraries open by themselves is not seen.
#pragma once

#include <cstdint>

namespace loaderscope::guest::open_counter {

enum class What : std::uint8_t { files, modules, listings, batches, kCount };

void count(What what);
std::int64_t counted(What what);  // 0 of what there is not
void forget();                    // in the child of a fork: all of it is the parent's

}  // namespace loaderscope::guest::open_counter
