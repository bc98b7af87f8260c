// Saved results of all kinds but a run, whose many steps have a reader of their own.
#pragma once

#include <istream>
#include <memory>
#include <string>

#include "loaderscope/report.h"
#include "report/json_cursor.h"
#include "report/schemas.h"

namespace loaderscope {

struct SavedResult {
  std::shared_ptr<const void> holds;  // owner of the data of `result`
  AnyResult result;
};

// Read a saved result. Throw RunError if it is cut off, has another schema, or has impossible
// values.
SavedResult read_saved(const ResultKind& kind, const std::string& path);
SavedResult parse_saved(const ResultKind& kind, std::istream& input, const std::string& place);

// Throws RunError if the document is of another kind or another version.
void check_schema(const JsonCursor& document, std::string_view kind);

}  // namespace loaderscope
