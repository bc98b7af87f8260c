// Reasons for a hang that lie in how workers were made: a fork copies locks as they are held, and
// of the threads only the one that forks.
#pragma once

#include <optional>

#include "guest/host/hang/reasons.h"

namespace loaderscope::guest {

std::optional<Explanation> explain_pin_thread_and_fork(const HangFacts& facts);
std::optional<Explanation> explain_lock_held_at_fork(const HangFacts& facts);

}  // namespace loaderscope::guest
