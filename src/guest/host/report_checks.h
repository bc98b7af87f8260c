// Whether what lies on a page can be what our hooks have written there. The page is also memory of
// somebody else's program, which may write over it by mistake: what cannot be is believed nowhere.
#pragma once

#include "guest/protocol/page.h"

namespace loaderscope::guest {

// `now`: nothing is reported before it has happened. How much a batch or a sample holds is said by
// the program's own objects, which may say anything: these numbers are brought into range.
bool is_possible(GuestEvent& fact, Nanos now);
bool is_possible(ThreadLog::Entry& entry, Nanos now);
bool is_possible(GpuRecord& record, Nanos now);

}  // namespace loaderscope::guest
