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
  std::optional<double> (*of)(const RunRecord& record);  // value in the window, if known
  // Runs that draw the same samples have it alike; of others two runs of an arm must say so.
  bool follows_from_draws = true;
};
std::span<const CountRow> count_table();

// Per sample, by name: of the rows, then of the record's metrics that are exact.
using Counts = std::vector<std::pair<std::string, double>>;
Counts counts_of(const RunRecord& record);
bool follows_from_draws(std::string_view count);

}  // namespace loaderscope::compare
