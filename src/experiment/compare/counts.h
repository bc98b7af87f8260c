// Counts that a job repeats exactly where its code is the same: they decide on the noisiest
// machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope::compare {

struct CountRow {
  Row row;                                               // "bytes-read"
  std::optional<double> (*of)(const RunRecord& record);  // of the window; nothing: it has none
};
std::span<const CountRow> count_table();

// Per sample, by name.
using Counts = std::vector<std::pair<std::string, double>>;
Counts counts_of(const RunRecord& record);

}  // namespace loaderscope::compare
