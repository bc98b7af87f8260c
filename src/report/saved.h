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
  std::shared_ptr<const void> holds;  // what `result` refers to
  AnyResult result;
};

// Throws RunError: cut off, of another schema, or values that cannot be.
SavedResult read_saved(const ResultKind& kind, const std::string& path);
SavedResult parse_saved(const ResultKind& kind, std::istream& in, const std::string& place);

// Throws RunError where it is none of this kind, or of another version.
void check_schema(const JsonCursor& document, std::string_view kind);

}  // namespace loaderscope
