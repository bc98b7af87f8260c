// Sets of stretches of time: in the order of time, none touching the next.
#pragma once

#include <deque>
#include <vector>

#include "engine/trace/traced_run.h"

namespace loaderscope::traces {

using Stretches = std::vector<Stretch>;

// Of any order; the empty ones are left out.
Stretches merged(Stretches stretches);
Stretches merged(std::deque<Stretch> stretches);
Nanos covered(const Stretches& set, Stretch within);
// The part of `from` that `set` covers, which `from` is without afterwards.
Nanos take(Stretches& from, const Stretches& set);
Stretch intersect(Stretch a, Stretch b);
// The first of `set` that ends behind `at`.
Stretches::const_iterator first_behind(const Stretches& set, Nanos at);

}  // namespace loaderscope::traces
