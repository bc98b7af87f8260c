// Work of other libraries in this process, in threads of their own, while a worker waits for their
// batch. DALI reports its operators by NVTX. A hook reports the work of Ray Data.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope::guest::operators {

// Books operators of this name to a stage.
void name(const std::string& name, Stage stage);
// Adds finished work of any thread.
void did(const Span& span);
bool known();  // true: between() may return spans

// Returns the spans from `begin` to `end`, in order and without overlap. If several ran at once,
// the first to begin counts. The CPU time of a span is the process's, limited to the length of the
// span. Forgets spans that ended before `begin`.
std::vector<Span> between(Nanos begin, Nanos end);

void forget();  // replaces the state in the child of a fork, as its lock may be held

}  // namespace loaderscope::guest::operators
