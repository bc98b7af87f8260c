#include "experiment/compare/counts.h"

#include <algorithm>
#include <array>

#include "analysis/totals.h"

namespace loaderscope::compare {
namespace {

std::optional<double> sum_of(const RunRecord& record, std::int64_t RankRecord::*count) {
  double sum = 0;
  for (const RankRecord& rank : record.ranks) sum += static_cast<double>(rank.*count);
  return sum;
}

template <Stage stage>
std::optional<double> executions(const RunRecord& record) {
  const StageStats stats = job_stages(record)[stage];
  return stats.count > 0 ? std::optional(static_cast<double>(stats.count)) : std::nullopt;
}

std::optional<double> read_bytes(const RunRecord& record) {
  return sum_of(record, &RankRecord::read_bytes);
}

std::optional<double> delivered_bytes(const RunRecord& record) {
  return sum_of(record, &RankRecord::delivered_bytes);
}

std::optional<double> sent_bytes(const RunRecord& record) {
  const StageStats stats = job_stages(record)[Stage::transport];
  return stats.bytes > 0 ? std::optional(static_cast<double>(stats.bytes)) : std::nullopt;
}

template <std::int64_t WorkCounts::*count>
std::optional<double> work(const RunRecord& record) {
  std::int64_t sum = 0;
  for (const RankRecord& rank : record.ranks) sum += rank.work.*count;
  return sum > 0 ? std::optional(static_cast<double>(sum)) : std::nullopt;
}

std::optional<double> skipped(const RunRecord& record) {
  return static_cast<double>(record.skipped.samples);
}

}  // namespace

std::span<const CountRow> count_table() {
  constexpr bool kShown = false;  // to be alike, by two runs
  static const std::array<CountRow, 14> rows = {{
      {{"bytes-read", "Stored bytes of the samples."}, read_bytes},
      {{"reads", "Times that a stored sample was read."}, executions<Stage::read>},
      {{"opens", "Files that were opened for the samples."}, work<&WorkCounts::opened>, kShown},
      {{"requests", "Reads that the kernel was asked for."}, work<&WorkCounts::requests>, kShown},
      {{"allocations", "Number of memory allocations by C++ code that makes samples."},
       work<&WorkCounts::allocations>,
       kShown},
      {{"decodes", "Number of decoded images."}, executions<Stage::decode>},
      {{"augmentations", "Times that samples were augmented."}, executions<Stage::augment>},
      {{"collations", "Batches that were put together."}, executions<Stage::collate>},
      {{"opaque-calls", "Samples, or batches, made by what cannot be seen inside."},
       executions<Stage::opaque>},
      {{"pins", "Number of batches copied into page-locked memory."}, executions<Stage::pin>},
      {{"copies", "Copies to the device."}, executions<Stage::h2d>},
      {{"bytes-sent", "Bytes that worker processes send."}, sent_bytes},
      {{"bytes-delivered", "Bytes that the device takes."}, delivered_bytes},
      {{"samples-skipped", "Number of samples that were skipped because they are unusable."},
       skipped},
  }};
  return rows;
}

Counts counts_of(const RunRecord& record) {
  Counts counts;
  const double samples = sum_of(record, &RankRecord::samples).value_or(0);
  if (samples <= 0) return counts;
  for (const CountRow& row : count_table()) {
    const std::optional<double> count = row.of(record);
    if (count) counts.emplace_back(row.row.name, *count / samples);
  }
  for (const Metric& metric : record.metrics) {
    if (metric.is_exact) counts.emplace_back(metric.name, metric.value);
  }
  return counts;
}

bool follows_from_draws(std::string_view count) {
  const auto rows = count_table();
  return std::any_of(rows.begin(), rows.end(), [&](const CountRow& one) {
    return one.row.name == count && one.follows_from_draws;
  });
}

}  // namespace loaderscope::compare
