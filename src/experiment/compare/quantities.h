// The compared values of two runs: rates, times of stages, waits, memory, and counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope::compare {

// The unit of a change.
enum class Scale : std::uint8_t {
  ratio,  // B / A - 1
  share,  // B - A, of what is a share already
};

struct QuantityRow {
  Row row;
  std::string_view unit;  // "1/s", "s", "bytes", "1"
  Scale scale;
  bool more_is_worse;
  bool decides;  // the verdict "same" requires this quantity
  std::optional<double> (*of)(const RunRecord& record, const Analysis& analysis);
};
std::span<const QuantityRow> quantity_table();

// Values by name. Rows come first, then stages and causes: "decode" (CPU seconds per sample),
// "decode-wall" (includes its own waits but no run-queue delay) and "wait-for-decode" (a share of
// the window).
using Quantities = std::vector<std::pair<std::string, double>>;
Quantities measure_quantities(const RunRecord& record, const Analysis& analysis);
std::optional<double> value_of(const Quantities& quantities, std::string_view name);

inline constexpr std::string_view kWall = "-wall", kWaitFor = "wait-for-";

// The stages whose time is compared, as they are called.
const std::vector<Stage>& compared_stages();

// Counts that a job repeats exactly where its code is the same: they decide on the noisiest
// machine.
struct CountRow {
  Row row;                                               // "bytes-read"
  std::optional<double> (*of)(const RunRecord& record);  // value in the window, if known
  // Runs that draw the same samples have it alike; of others two runs of an arm must say so.
  bool follows_from_draws = true;
};
std::span<const CountRow> count_table();

// Per sample, by name: of the rows, then of the record's metrics that are exact.
using Counts = std::vector<std::pair<std::string, double>>;
Counts collect_counts(const RunRecord& record);
bool follows_from_draws(std::string_view count);

}  // namespace loaderscope::compare
