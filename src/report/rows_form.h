// Rows of named cells for a result that has a list of things.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/report.h"

namespace loaderscope {

struct ResultCell {
  std::string path, value;  // "samples_per_s.mean"; of a list how many it has, or its words
  bool is_text = false;
};
using ResultRow = std::vector<ResultCell>;

// The elements of the top-level list `name`, as it is described.
std::vector<ResultRow> rows_of(const AnyResult& result, std::string_view name);

}  // namespace loaderscope
