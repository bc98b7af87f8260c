// Replaces the files that need SQLite.
#include "built_with.h"
#include "engine/import/trace_readers.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {

void read_nsys_trace(const std::string& path, const TraceOptions&, TracedRun&) {
  throw RunError(path + ": " + no_sqlite().value_or(""));
}

std::optional<std::string> no_sqlite() { return reason_missing<built_with::kSqlite>(); }

}  // namespace loaderscope::traces
