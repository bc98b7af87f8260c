// The index of a manifest: a list of files with their labels, in its own order.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

// `path` ends in .csv (a header with `path` and perhaps `label`, in any order, other columns are
// passed over) or .jsonl (one {"path": ..., "label": ...} a line). Paths are relative to the
// manifest's folder, which is root 0, or absolute, which is root 1 (""). Labels are whole numbers,
// or names, numbered in their order by bytes; without labels they are 0. No file is looked at.
// Throws RunError.
Index index_manifest(const std::string& path, std::string_view identity,
                     const SourceContext& context);
// The same of a manifest that is open already.
Index index_manifest(std::istream& in, const std::string& path, std::string_view identity,
                     const SourceContext& context);

}  // namespace loaderscope::source
