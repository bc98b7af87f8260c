// Checks that the hooks can have written the contents of a page. The page is also memory of the
// user's program, which may overwrite it by mistake. Impossible values are rejected.
#pragma once

#include "guest/protocol/page.h"

namespace loaderscope::guest {

// `now`: events of the future are rejected. The sizes of a batch or a sample come from the
// program's own objects, which may report any number. They are clamped to their range.
bool is_possible(GuestEvent& fact, Nanos now);
bool is_possible(ThreadLog::Entry& entry, Nanos now);
bool is_possible(GpuRecord& record, Nanos now);

}  // namespace loaderscope::guest
