// The family of sources: where samples come from.
#pragma once

#include <span>

#include "loaderscope/rows.h"

namespace loaderscope {

struct SourceRow {
  Row row;
};

std::span<const SourceRow> source_table();

}  // namespace loaderscope
