// Observers of other parts of the process: operators of libraries, and Python's opens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope::guest::operators {

// Work of other libraries in this process, in threads of their own, while a worker waits for their
// batch. DALI reports its operators by NVTX. A hook reports the work of Ray Data.

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

namespace loaderscope::guest::open_counter {

// Counts of Python's opens and listings in this process, from an audit hook. Libraries that open
// files on their own are not counted.
enum class What : std::uint8_t { files, modules, listings, batches, kCount };

void count(What what);
std::int64_t counted(What what);  // 0 if never counted
void forget();                    // drops the parent's counts in the child of a fork

}  // namespace loaderscope::guest::open_counter
