// What other libraries do in this process, in threads of their own, while ours waits for their
// batch. DALI tells its operators by NVTX; what Ray Data says of itself is told by its hook.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope::guest::operators {

// Operators of that name are that stage; what others do is told as nobody's.
void name(const std::string& name, Stage stage);
// It has been done, whoever did it.
void did(const Span& span);
bool known();  // anything may have been

// From `begin` to `end`, in order, none within another: where several ran at once, the one that
// began first. A span's CPU time is the process's, as much as the span is long at most. What ended
// before `begin` is forgotten.
std::vector<Span> between(Nanos begin, Nanos end);

void forget();  // in the child of a fork, whoever had the lock

}  // namespace loaderscope::guest::operators
